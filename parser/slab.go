package parser

import "umwelt/ast"

// slabs hands out the parts of the tree from larger pieces of memory, which makes the
// tree cheap to build.
type slabs struct {
	declarations slab[ast.Declaration]
	rules        slab[ast.Rule]
	atRules      slab[ast.AtRule]
	blocks       slab[ast.Block]
	comments     slab[ast.Comment]
	selectors    slab[ast.Selector]
	compounds    slab[ast.Compound]

	nodes       slab[ast.Node]
	values      slab[ast.Value]
	simples     slab[ast.Simple]
	selectorPs  slab[*ast.Selector]
	compoundPs  slab[*ast.Compound]
	combinators slab[ast.Combinator]
}

type slab[T any] struct {
	free []T
	size int
}

// reserve makes room for n more.
func (s *slab[T]) reserve(n int) {
	if len(s.free) < n {
		s.size = min(max(8, 2*s.size), 512)
		s.free = make([]T, max(n, s.size))
	}
}

func (s *slab[T]) new() *T {
	s.reserve(1)
	t := &s.free[0]
	s.free = s.free[1:]
	return t
}

// take is n new ones in a row.
func (s *slab[T]) take(n int) []T {
	s.reserve(n)
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// copyOf is a copy of xs that has no spare capacity; nil for none.
func (s *slab[T]) copyOf(xs []T) []T {
	if len(xs) == 0 {
		return nil
	}
	out := s.take(len(xs))
	copy(out, xs)
	return out
}
