module umwelt

go 1.26
