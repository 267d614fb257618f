// Tests that replaced words are not used again (docs/reference/glossary.md).
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { constructions, findConstructions, findReplacedTerms, replacedTerms } from '../tools/words.ts'

// One example for each rule, in the same order.
const planted = [
  'createFreshMemory()',
  'a prepared answer',
  'createBatched()',
  'a success that others heed',
  'max_held_bytes',
  'shownText(text)',
  'await takeTurn()',
  'writeSoon(rows)',
  'reachIn(actor)',
  'actor.holdingIn(id)',
  'holdPermission(tx)',
  'describeGrant(line)',
  'SVC_DATABASE_APPLICATION_ROLE',
  'CredentialParts',
  'secret.print',
  'calls-underway.service.ts',
  'the caller broke his request off',
  'startPeriodic(jobs)',
  'as he said',
  'worthASecond(error)',
  'type Place = { id: string }',
  'createCoalesced({ getKey, run })',
]

test('each word that was replaced is found, with its line and what to write instead', () => {
  expect(planted).toHaveLength(replacedTerms.length)
  for (const [index, text] of planted.entries()) {
    const [form, instead] = replacedTerms[index] as (typeof replacedTerms)[number]
    expect([text, form.test(text)]).toEqual([text, true])
    expect(findReplacedTerms('a.ts', `fine\n${text}`)).toContainEqual(
      expect.stringMatching(
        new RegExp(`^a\\.ts:2: .*: write ${instead.replaceAll(/[()]/g, String.raw`\$&`)}$`),
      ),
    )
  }
})

test('what is written instead is found nowhere', () => {
  for (const text of [
    'the cached response',
    'a prepared statement',
    'their own role',
    'the shell',
    'this, she, other',
  ])
    expect(findReplacedTerms('a.ts', text)).toEqual([])
})

test('a comment with an odd construction is found, code and strings are not read', () => {
  const planted = [
    'the former value',
    'Redis is away',
    'it shall wait',
    'this is no project',
    'Stops. What is left is closed',
    'Formats a list. Pure',
  ]
  expect(planted).toHaveLength(constructions.length)
  for (const text of planted)
    expect(findConstructions('a.ts', `const former = 1\n// ${text}.\n`)).toEqual([
      expect.stringMatching(/^a\.ts:2: /),
    ])
  for (const text of [
    'if there is no row',
    'is no longer used',
    'The answer of the service. It returns what is left',
  ])
    expect(findConstructions('a.ts', `const text = 'it shall' // ${text}.\n`)).toEqual([])
})

test('the glossary has each word once', () => {
  const page = readFileSync(new URL('../../../docs/reference/glossary.md', import.meta.url), 'utf8')
  const words = [...page.matchAll(/^\| ([a-z ]+?) +\|/gm)]
    .map(([, word]) => word)
    .filter((word) => word !== 'word')
  expect(words.length).toBeGreaterThan(10)
  expect(new Set(words).size).toBe(words.length)
})
