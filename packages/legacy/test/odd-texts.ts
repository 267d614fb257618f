// Values from old installations that the current rules reject.
import type { Random } from '@manager/harness/random.ts'

/** Names. PostgreSQL can store every character except U+0000. */
export const oddNames = [
  '',
  '   ',
  'x'.repeat(300),
  '🦆'.repeat(120),
  'متجر الزهور',
  '\u202eright to left\u202c',
  'with\u0001control\u001fcharacters\u007f',
  'two\nlines',
  "'; drop table users; --",
  ' padded ',
]

/** Slugs, some of which become equal when they are adjusted. */
export const oddSlugs = [
  '',
  'UPPER',
  'upper',
  'Upper ',
  '-edge-',
  'under_score',
  'under score',
  'ä'.repeat(5),
  'slug'.repeat(40),
  `${'slug'.repeat(40)}-other`,
  '日本',
  'a..b',
]

export const oddUserIds = ['', 'jane', '12345', 'not-a-uuid-at-all', 'auth0|5f7c8ec7c33c6c004bbafe82']
export const oddRoles = ['', 'MAINTAINER', 'viewer', 'root', 'Owner', 'administrator', 'x'.repeat(300)]
export const oddCallbackUrls = [
  '',
  'not a url',
  'ftp://files.example/',
  'https://user@backend.example/',
  '/relative',
]
export const oddPaths = [
  '',
  'orders',
  '//host/path',
  '/a/../b',
  '/with blank',
  '/q?x=1',
  `/${'p'.repeat(600)}`,
  '/%zz',
]

const words = ['red', 'green', 'blue', 'grey', '@acme/menu', '@acme/cart', 'de-DE', 'en-US']
const keys = ['a', 'b', 'c', 'd', 'key with blanks', 'ключ', '10', '9']
const values = ['', '1', '2', '{"json":true}', '🦆', 'two\nlines', '"quoted"']

const list = (random: Random): string[] => random.some(words, 0.3)
const pairs = (random: Random): object[] =>
  random.some(keys, 0.4).map((Key) => ({ Key, Value: random.pick(values) }))

/**
 * Returns a random selection of the fields. Names and values are taken from a small set, so that layers
 * overlap.
 */
export function someFrontend(random: Random): Record<string, unknown> {
  const all: Record<string, () => unknown> = {
    EnabledThemes: () => list(random),
    DefaultTheme: () => random.pick(['', 'red', 'green']),
    EnabledLocales: () => list(random),
    DefaultLocale: () => random.pick(['', 'de-DE', 'en-US']),
    KeyValuePairs: () => pairs(random),
  }
  const fields = random.some(Object.keys(all), 0.6)
  return Object.fromEntries(fields.map((field) => [field, all[field]?.()]))
}

export const someBackend = (random: Random): Record<string, unknown> => ({
  ...(random.chance(0.6) ? { EnabledModules: list(random) } : {}),
  ...(random.chance(0.5) ? { KeyValuePairs: pairs(random) } : {}),
})

/** Returns a configuration with a wrong shape. */
export function oddConfig(random: Random, config: Record<string, unknown>): unknown {
  return random.pick<unknown>([
    null,
    [],
    'text',
    7,
    { ...config, Unknown: { nested: [1] } },
    { ...config, KeyValuePairs: 'text' },
    { ...config, KeyValuePairs: [{ Key: 'a', Value: '1' }, 'text', null, { Key: 'z' }, { Value: '3' }] },
    {
      ...config,
      KeyValuePairs: [
        { Key: 'a', Value: '1' },
        { Key: 'b', Value: '2' },
        { Key: 'a', Value: '3' },
      ],
    },
    { ...config, EnabledThemes: 'red', DefaultTheme: ['red'], EnabledModules: {} },
    { ...config, EnabledLocales: null, DefaultLocale: null },
    { ...config, DefaultTheme: 12, EnabledModules: null },
  ])
}
