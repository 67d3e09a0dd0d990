// Package wordcount counts words.
package wordcount

import "strings"

// Count gives the number of words in a text.
func Count(text string) int {
	return len(strings.Fields(text))
}
