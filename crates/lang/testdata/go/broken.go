package queue

func First() int {
	return 1
}

func Second( {
	return
}

type Third struct {
	A int
	B
}

func (t Third) Fourth() int {
	return t.A +
}

func Fifth() {}
