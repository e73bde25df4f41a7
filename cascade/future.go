package cascade

type future struct{}
