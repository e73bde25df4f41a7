// Package exposure finds what the sandbox vocabulary's words give away: credentials that
// the actor can read, and ways for them to leave.
package exposure

import (
	"path"
	"strings"

	"umwelt/world"
)

// Pattern is one kind of file that usually holds a credential. A Glob is matched against
// the last parts of a path, without regard to case.
type Pattern struct {
	Glob string
	What string
}

// Patterns are the files that look like credentials, in the order in which they are tried.
// docs/lint/secrets-exposed.md lists them.
var Patterns = []Pattern{
	{".env", "environment settings"},
	{".env.*", "environment settings"},
	{"*.env", "environment settings"},
	{".envrc", "environment settings"},
	{"id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}", "a private SSH key"},
	{"*.{pem,key,p8,ppk}", "a private key"},
	{"*.{p12,pfx,jks,keystore,bks}", "a key store"},
	{"*.{kdbx,kdb,psafe3,agilekeychain,opvault}", "a password store"},
	{".{netrc,pgpass,my.cnf,htpasswd}", "a password file"},
	{"_netrc", "a password file"},
	{"htpasswd", "a password file"},
	{".git-credentials", "credentials of git"},
	{".{npmrc,yarnrc,pypirc,gem/credentials,cargo/credentials,cargo/credentials.toml}", "credentials of a package registry"},
	{".{aws,oci,azure,boto}/{credentials,config}", "credentials of a cloud"},
	{".boto", "credentials of a cloud"},
	{".config/gcloud/{credentials.db,access_tokens.db,application_default_credentials.json}", "credentials of a cloud"},
	{"{gcp,google,service}{-,_}{key,account,credentials}*.json", "credentials of a cloud"},
	{".docker/config.json", "credentials of a container registry"},
	{".dockercfg", "credentials of a container registry"},
	{".kube/config", "credentials of a cluster"},
	{"kubeconfig", "credentials of a cluster"},
	{".config/gh/hosts.yml", "credentials of GitHub"},
	{".ssh/**", "SSH keys and hosts"},
	{".gnupg/**", "PGP keys"},
	{".vault-token", "a token"},
	{"{credentials,credential,secrets,secret,passwords,password,tokens,client_secret}", "credentials, by its name"},
	{"{credentials,credential,secrets,secret,passwords,password,tokens,client_secret*}.{json,yaml,yml,toml,ini,txt,cfg,conf,xml,properties}", "credentials, by its name"},
	{"*.{tfstate,tfstate.backup,tfvars}", "Terraform state and variables"},
	{"master.key", "a key"},
	{"wallet.dat", "a wallet"},
}

// harmless are names that look like credentials and are made to be shown.
var harmless = []string{"*.{example,sample,template,dist,pub}", "*.{example,sample,template}.*", "{cert,certificate,chain,fullchain,cacert,ca-cert,ca-certificates,ca-bundle,ca,public}.pem", "*.pub.pem"}

var patterns, exempt = compile()

func compile() (found []world.Glob, out []world.Glob) {
	for _, p := range Patterns {
		found = append(found, world.CompileGlob("**/"+p.Glob))
	}
	for _, h := range harmless {
		out = append(out, world.CompileGlob(h))
	}
	return found, out
}

// LooksSecret says what a path seems to hold, or "" where it seems to hold no credential.
func LooksSecret(name string) string {
	name = strings.ToLower(strings.Trim(path.Clean("/"+name), "/"))
	base := path.Base(name)
	for _, g := range exempt {
		if g.Match(base) {
			return ""
		}
	}
	for i, g := range patterns {
		if g.Match(name) {
			return Patterns[i].What
		}
	}
	return ""
}
