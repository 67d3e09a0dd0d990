// Command wordcount counts the words on its standard input.
package main

import (
	"fmt"
	"io"
	"os"

	"example.org/wordcount"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(wordcount.Count(string(text)))
}
