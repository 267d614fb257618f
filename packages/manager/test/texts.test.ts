// Tests the reader of comments, messages, names and sentences that the word check and the text sampler use.
import { expect, test } from 'vitest'
import { readSentences, readSourceTexts } from '../tools/texts.ts'

const textsOf = (list: readonly { line: number; text: string }[]) =>
  list.map(({ line, text }) => `${line} ${text}`)

test('adjacent line comments are one comment, and directives are none', () => {
  const source = [
    '// The first line',
    '// and the second line.',
    '// oxlint-disable-next-line no-eval -- a reason',
    'const total = 1 // Follows code.',
    '// Stands below it.',
    '/** Spans',
    ' * two lines. */',
  ].join('\n')
  expect(textsOf(readSourceTexts('a.ts', source).comments)).toEqual([
    '1 The first line and the second line.',
    '4 Follows code.',
    '5 Stands below it.',
    '6 Spans two lines.',
  ])
})

test('messages are literals of several words but not SQL, and names are declared once', () => {
  const source = [
    'type Row = { isOpen: boolean }',
    'const problem = (id: string) => `the row ${id} is not open`',
    "const statement = 'select id from rows where id = 1'",
    "const short = 'two words'",
    "const part = 'left join tenants t on t.id = m.tenant_id'",
  ].join('\n')
  const { messages, names } = readSourceTexts('a.ts', source)
  expect(textsOf(messages)).toEqual(['2 the row … is not open'])
  expect(names.map(({ text }) => text)).toEqual(['Row', 'isOpen', 'problem', 'statement', 'short', 'part'])
})

test('sentences of a page exclude code, tables and headings', () => {
  const page =
    '# A title of words\n\nThe first sentence is\nlong. The second one is, too.\n\n```sh\nnot a sentence at all\n```\n\n| a | table of four words |\n\n- An item has a sentence.\n\n**See [the page](../b.md#c).** Write `{{.Data.id}}` in it. `code` starts a sentence.\n'
  expect(textsOf(readSentences('a.md', page))).toEqual([
    '3 The first sentence is long.',
    '3 The second one is, too.',
    '12 An item has a sentence.',
    '14 Write `{{.Data.id}}` in it.',
    '14 `code` starts a sentence.',
  ])
})
