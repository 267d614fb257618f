// Untrusted text whose invisible characters are shown by their code. Otherwise, two different values can look the same,
// and characters that change the direction can reorder a value.
import './visible-text.css'
import type { ReactNode } from 'react'

// Control and format characters and line separators, except tabs, line feeds and the characters that join letters.
const invisiblePattern = /((?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029])/u

const toCode = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

export const VisibleText = ({ text }: { text: string }): ReactNode =>
  invisiblePattern.test(text)
    ? text.split(invisiblePattern).map((part, index) =>
        // The pattern captures the separators, so every second part is an invisible character.
        index % 2 === 0 ? (
          part
        ) : (
          // oxlint-disable-next-line react/no-array-index-key -- parts have no other identity
          <span key={index} className="invisible-character">
            {toCode(part)}
          </span>
        ),
      )
    : text
