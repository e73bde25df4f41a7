// Package all is the one list of detectors.
package all

import (
	"umwelt/lint"
	"umwelt/lint/exposure"
)

// Detectors are all there are: first those about how rules win, then those about rules
// that do nothing, then those about what is granted.
func Detectors() []lint.Detector {
	return []lint.Detector{
		lint.NarrowWin,
		lint.SpecificityEscalation,
		lint.SourceOrderDependence,
		lint.SpecificityTie,
		lint.CrossAxisDominance,
		lint.CrossAxisTie,
		lint.PermissiveOverride,
		lint.ImportantUse,

		lint.ShadowedRule,
		lint.ShadowedRestriction,
		lint.DeadSelector,
		lint.UnusedQualifier,
		lint.IneffectiveCeiling,
		lint.ConflictingCeiling,
		lint.OverlappingPatterns,
		lint.FixedOverride,
		lint.UnrealizableAltitude,

		lint.UncoveredEntity,
		lint.ShallowGrant,
		lint.PermissiveInitialValue,
		exposure.Secrets,
		exposure.Network,
		lint.Drift,
		lint.UnusedIgnore,
	}
}
