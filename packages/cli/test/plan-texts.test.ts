// Tests how a plan shows untrusted text.
import { expect, test } from 'vitest'
import { useApply } from './kit/apply.ts'

const { svc, writeDocument } = useApply()

test('a plan, its question and its steps show control characters by their escapes', async () => {
  const name = String.raw`safe\u202eevil\u061c\u009b31m`
  const { file } = writeDocument('plain', `projects: [{ slug: plain, name: "${name}" }]`)
  const controlCharacters = /[^\P{Cc}\n]|\p{Bidi_Control}/u
  for (const format of ['table', 'json', 'yaml']) {
    const { code, out } = await svc(['apply', '-f', file, '--plan', '-o', format])
    expect([format, code, out]).toEqual([format, 0, expect.stringContaining(name)])
    expect(out).not.toMatch(controlCharacters)
  }
  const { file: other } = writeDocument(
    'hidden',
    String.raw`projects: [{ slug: "a\u2067b", name: x, tenants: 1 }]`,
  )
  const { err } = await svc(['apply', '-f', other, '--plan'])
  expect(err).not.toMatch(controlCharacters)
})
