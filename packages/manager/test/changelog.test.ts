// Tests the changelog, which users read to decide whether to update. Entries under Security must describe the fixed
// behavior.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Returns the entries under a heading in all releases, each as one line. */
function entriesUnder(heading: string, text: string): string[] {
  const sections = text.split(/^##+ /m).filter((section) => section.startsWith(`${heading}\n`))
  return sections.flatMap((section) =>
    section
      .split(/^- /m)
      .slice(1)
      .map((entry) => entry.replaceAll(/\s+/g, ' ').trim()),
  )
}

/** Matches entries that describe an attack. Such entries would help to attack older releases. */
const attackDescription = /\b(?:could|was able to|were able to|allowed (?:any|an attacker)|did not)\b/i

test('entries under Security say what was fixed, not what was wrong', () => {
  const text = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  const entries = entriesUnder('Security', text)
  expect(entries.length).toBeGreaterThan(5)
  expect(entries.filter((entry) => attackDescription.test(entry))).toEqual([])
})

test('an entry that says what was wrong is found', () => {
  const planted =
    '## [1.0.0]\n\n### Security\n\n- Fine.\n- Any caller could\n  run code.\n\n### Fixed\n\n- It could fail.\n'
  expect(entriesUnder('Security', planted)).toEqual(['Fine.', 'Any caller could run code.'])
  expect(entriesUnder('Security', planted).filter((entry) => attackDescription.test(entry))).toHaveLength(1)
})
