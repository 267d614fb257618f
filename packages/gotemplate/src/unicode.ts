// Character classes of Go's package unicode, for names in templates and for quoting.

const letterOrDigit = /^[\p{L}\p{Nd}]$/u
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u

/** Whether a name may contain the character. */
export function isLetterOrDigit(code: number): boolean {
  if (code < 0x80)
    return (
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
    )
  return letterOrDigit.test(String.fromCodePoint(code))
}

/** Whether Go leaves the character unescaped when it quotes. */
export function isPrintable(code: number): boolean {
  if (code < 0x7f) return code >= 0x20
  return code > 0xa0 && printable.test(String.fromCodePoint(code))
}
