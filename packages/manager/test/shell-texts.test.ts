// Tests the translations in the example shell: keys that are also names of JavaScript properties are treated like any
// other key.
import { expect, test } from 'vitest'
import { connect } from '@manager/client'

type Texts = { text: (key: string, values?: object) => string; has: (key: string) => boolean }
const { loadTexts } = (await import(new URL('../../../examples/shell/texts.mjs', import.meta.url).href)) as {
  loadTexts: (manager: object, applicationId: string, locale: string) => Promise<Texts>
}

const textsOf = (messages: object): Promise<Texts> => {
  const answer = () => Promise.resolve(Response.json({ locale: 'de', messages }))
  return loadTexts(connect({ url: 'http://manager.example', fetch: answer }), 'application', 'de')
}

test('a key that the pack does not have is its own text, whatever objects inherit', async () => {
  const { text, has } = await textsOf({ cart: { title: 'Warenkorb {toString}' } })
  for (const key of [
    'constructor',
    'toString',
    'cart.constructor',
    'cart.title.length',
    'cart',
    '__proto__.x',
  ])
    expect([key, text(key), has(key)]).toEqual([key, key, false])
  expect(text('cart.title')).toBe('Warenkorb {toString}')
})

test('a key that the pack has is found, also under such a name', async () => {
  const { text } = await textsOf({ constructor: { '': 'Konstrukteur', name: 'Name' }, toString: 'Text' })
  expect(['constructor', 'constructor.name', 'toString'].map((key) => text(key))).toEqual([
    'Konstrukteur',
    'Name',
    'Text',
  ])
})
