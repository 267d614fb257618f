// Character classes of Go's unicode package, for names in templates and for quoting.

const letterOrDigitPattern = /^[\p{L}\p{Nd}]$/u
const printablePattern = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u

/** Returns whether a name may contain the character. */
export function isLetterOrDigit(code: number): boolean {
  if (code < 0x80)
    return (
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
    )
  return letterOrDigitPattern.test(String.fromCodePoint(code))
}

/** Returns whether Go leaves the character unescaped when it quotes text. */
export function isPrintable(code: number): boolean {
  if (code < 0x7f) return code >= 0x20
  return code > 0xa0 && printablePattern.test(String.fromCodePoint(code))
}
