import { describe, expect, test } from 'vitest'
import { html } from './html.ts'

describe('html', () => {
  test('escapes what would end a text or an attribute', () => {
    expect(String(html`<p title="${`"'&<>`}">${`"'&<>`}</p>`)).toBe(
      '<p title="&quot;&#39;&amp;&lt;&gt;">&quot;&#39;&amp;&lt;&gt;</p>',
    )
  })

  test('takes pieces, lists of them, numbers and nothing', () => {
    const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`)
    // prettier-ignore
    const list = html`<ul>${items}</ul>${7}${null}`
    expect(String(list)).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>7')
  })

  test.each([
    ['an attribute without quotes', () => html`<p title=${'a b'}></p>`],
    ['a name of an element', () => html`<${'p'}></p>`],
    ['the end of one', () => html`<p></${'p'}>`],
  ])('refuses a value as %s', (_name, build) => {
    expect(build).toThrow('values in HTML must be element text or quoted attributes')
  })
})
