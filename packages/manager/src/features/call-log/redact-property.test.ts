// Tests that secrets under sensitive keys are never shown, regardless of spelling, depth, format or position in the
// body, and that everything else is shown.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'
import type { Budget } from './redact-budget.pure.ts'

const runs = 400
const sensitive =
  'password passwd pwd secret client_secret token access_token refresh_token id_token api_key apikey authorization ' +
  'private_key credential credentials pin cvv card_number iban ssn'
const harmless = 'user note count city order line item2 créé state total'.split(' ')

/** Generates values from a seed, so that a seed and a size reproduce a case. */
function dice(seed: number) {
  let state = seed
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
  const one = <T>(of: readonly T[]): T => of[below(of.length)] as T
  return { below, one, chance: (percent: number): boolean => below(100) < percent }
}
type Dice = ReturnType<typeof dice>

/** A document that is independent of the format. */
type Leaf = { text: string }
type Tree =
  Leaf | { list: Tree[] } | { fields: [string, Tree][] } | { pair: [string, Leaf] } | { inner: Tree }

const letters = 'abcdefghjkmnqrtuvwxyzABCDEFGHJKMNQRTUVWXYZ23456789'.split('')
const word = (d: Dice): string => Array.from({ length: 10 }, () => d.one(letters)).join('')
const odd = [
  ' ',
  '"',
  "'",
  '<',
  '>',
  '&',
  '=',
  '\\',
  '%',
  '+',
  ',',
  ';',
  ':',
  '{',
  '}',
  '[',
  ']',
  '/',
  '\n',
  '#',
  '?',
  '€',
  '🙂',
  '</',
  '-->',
  ']]>',
  '","',
  '\\"',
  '&quot;',
]

function draw(d: Dice, budget: number) {
  const secrets: string[] = []
  const kept: string[] = []
  const secretLeaf = (): Leaf => {
    const words = Array.from({ length: 1 + d.below(3) }, () => word(d))
    secrets.push(...words)
    return { text: words.reduce((text, next) => text + d.one(odd) + next) }
  }
  const keptLeaf = (): Leaf => {
    kept.push(`keep${word(d)}`)
    return { text: kept.at(-1) as string }
  }
  const leaves = (leaf: () => Leaf, size: number): Tree => {
    if (size < 2 || d.chance(60)) return leaf()
    const inner = Array.from({ length: 1 + d.below(2) }, () => leaves(leaf, size - 2))
    // A secret can contain text that would not be redacted elsewhere.
    if (d.chance(30))
      return {
        inner: {
          fields: [
            [d.one(harmless), leaf()],
            [d.one(sensitive.split(' ')), leaf()],
          ],
        },
      }
    return d.chance(50) ? { list: inner } : { fields: inner.map((tree) => [d.one(harmless), tree]) }
  }
  const field = (size: number): [string, Tree] => {
    if (d.chance(35)) return [spelled(d, d.one(sensitive.split(' '))), leaves(secretLeaf, size)]
    return [d.one(harmless), tree(size)]
  }
  let nested = 0
  const inner = (size: number): Tree => {
    nested++
    const drawn = { inner: document(size) }
    nested--
    return drawn
  }
  const tree = (size: number): Tree => {
    if (size <= 0 || d.chance(15)) return keptLeaf()
    if (d.chance(10)) return { pair: [d.one(sensitive.split(' ')), secretLeaf()] }
    if (nested < 3 && d.chance(20)) return inner(size - 1)
    return d.chance(30) ? { list: [tree(size - 1), tree(size - 2)] } : document(size - 1)
  }
  const document = (size: number): Tree => ({
    fields: Array.from({ length: 1 + d.below(4) }, () => field(size)),
  })
  return { tree: document(budget), secrets, kept }
}

/** Returns the key in a different case and with different separators. */
const spelled = (d: Dice, key: string): string =>
  Array.from(key)
    .map((c) =>
      c === '_' ? d.one(['_', '-', '', '.', '__']) : c + (d.chance(5) ? d.one(['_', '-', '.']) : ''),
    )
    .map((c) => (d.chance(30) ? c.toUpperCase() : c))
    .join('')
    .replaceAll(/^[^A-Za-z]+|[^A-Za-z]+$/g, '')

const unicode = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`

function toJson(d: Dice, tree: Tree): string {
  const blank = () => (d.chance(10) ? d.one([' ', '\n', '\t']) : '')
  const string = (text: string, escaped: number): string => {
    const chars = text.split('').map((c) => (d.chance(escaped) ? unicode(c) : JSON.stringify(c).slice(1, -1)))
    return `"${chars.join('')}"`
  }
  if ('text' in tree) return string(tree.text, 0)
  if ('inner' in tree) return string(render(d, tree.inner), d.one([0, 0, 20]))
  if ('list' in tree) return `[${tree.list.map((one) => blank() + toJson(d, one)).join(`${blank()},`)}]`
  const fields: [string, Tree][] = 'fields' in tree ? tree.fields : pairOf(d, tree.pair)
  const members = fields.map(
    ([key, value]) => `${blank()}${string(key, 10)}${blank()}:${blank()}${toJson(d, value)}`,
  )
  return `{${members.join(`${blank()},`)}${blank()}}`
}

const pairOf = (d: Dice, [key, leaf]: [string, Leaf]): [string, Tree][] => {
  const pair: [string, Tree][] = [
    [d.one(['name', 'key', 'Name', 'id']), { text: key }],
    [d.one(['value', 'Value']), leaf],
  ]
  return d.chance(50) ? pair : pair.toReversed()
}

const entity = (c: string): string => `&#${(c.codePointAt(0) as number).toString()};`
const escapeXml = (d: Dice, text: string): string =>
  Array.from(text, (c) => ('<>&"\''.includes(c) || d.chance(3) ? entity(c) : c)).join('')

function toXml(d: Dice, tree: Tree, name = 'root'): string {
  const tag = d.chance(20) ? `ns:${name}` : name
  const around = (content: string): string => `<${tag}${d.chance(10) ? ' a="1"' : ''}>${content}</${tag}>`
  const text = (value: string): string =>
    d.chance(20) && !value.includes(']]>') ? `<![CDATA[${value}]]>` : escapeXml(d, value)
  if ('text' in tree) return around(text(tree.text) + (d.chance(5) ? '<!-- note -->' : ''))
  if ('inner' in tree) return around(text(render(d, tree.inner)))
  if ('list' in tree) return around(tree.list.map((one) => toXml(d, one, 'item')).join(''))
  if ('pair' in tree) {
    const [key, { text: value }] = tree.pair
    const quoted = ` value="${escapeXml(d, value)}"`
    if (d.chance(30)) return `<param${[` name='${key}'`, quoted].toSorted(() => d.below(3) - 1).join('')}/>`
    if (d.chance(40)) return `<entry key="${escapeXml(d, key)}">${text(value)}</entry>`
    return around(
      pairOf(d, tree.pair)
        .map(([name, leaf]) => toXml(d, leaf, name))
        .join(''),
    )
  }
  // An element cannot have two attributes with the same name.
  const [attributes, elements] = [new Map<string, string>(), [] as string[]]
  for (const [key, value] of tree.fields)
    if ('text' in value && d.chance(30) && !attributes.has(key))
      attributes.set(key, ` ${key}="${escapeXml(d, value.text)}"`)
    else elements.push(toXml(d, value, key))
  const start = `<${tag}${[...attributes.values()].join('')}>`
  return `${start}${elements.join(d.chance(20) ? '\n' : '')}</${tag}>`
}

function toForm(d: Dice, tree: Tree, path = ''): string {
  const encode = (text: string): string => {
    const percent = encodeURIComponent(text).replaceAll('%20', d.one(['%20', '+']))
    return percent.replaceAll(/[a-z](?![0-9A-F])/g, (c) =>
      d.chance(3) ? `%${c.charCodeAt(0).toString(16)}` : c,
    )
  }
  const under = (key: string): string =>
    path === '' ? key : d.chance(50) ? `${path}[${key}]` : `${path}.${key}`
  if ('text' in tree) return `${encode(path)}=${encode(tree.text)}`
  if ('inner' in tree) return `${encode(path)}=${encode(render(d, tree.inner))}`
  if ('list' in tree) return tree.list.map((one, index) => toForm(d, one, under(String(index)))).join('&')
  const fields: [string, Tree][] = 'fields' in tree ? tree.fields : pairOf(d, tree.pair)
  return fields.map(([key, value]) => toForm(d, value, under(key))).join('&')
}

const render = (d: Dice, tree: Tree): string => {
  const form = d.below(3)
  return form === 0 ? toJson(d, tree) : form === 1 ? toXml(d, tree) : toForm(d, tree)
}

const named: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}

/** Decodes all escapes repeatedly, including escapes that result from decoding. No generated word contains a zero. */
function resolved(text: string): string {
  const character = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))
  const next = text
    .replaceAll(/\\*u00([2-7][0-9a-f])/gi, character)
    .replaceAll(/%([2-7][0-9a-f])/gi, character)
    .replaceAll(/&#(\d+);/g, (_, digits: string) => String.fromCodePoint(Number(digits)))
    .replaceAll(/&(?:amp|lt|gt|quot|apos);/g, (entity) => named[entity] as string)
  const bare = next === text ? text.replaceAll('\\', '') : next
  return bare === text ? text : resolved(bare)
}

const contentTypes = [
  null,
  'application/json',
  'text/xml; charset=utf-8',
  'application/x-www-form-urlencoded',
  'text/plain',
  'text/html',
  'application/xml; charset=ISO-8859-1',
  'multipart/form-data; boundary=x',
  'image/png',
]

function expectShown(shown: string, { secrets, kept }: { secrets: string[]; kept: string[] }): void {
  const plain = resolved(shown)
  for (const secret of secrets) expect(plain).not.toContain(secret)
  for (const one of kept) expect(plain).toContain(one)
  expect(shown).not.toContain('\0')
  expect(shown.isWellFormed()).toBe(true)
}

const seeds = fc.integer()
const sizes = fc.integer({ min: 0, max: 5 })

test('[esb-audit.redact-scope] in any JSON, XML or form, sent as any type, secrets are hidden and nothing else is', () => {
  fc.assert(
    fc.property(seeds, sizes, (seed, size) => {
      const d = dice(seed)
      const drawn = draw(d, size)
      const body = Buffer.from(render(d, drawn.tree))
      const about = { totalBytes: body.length, contentType: d.one(contentTypes), contentEncoding: null }
      const shown = redactBody(body, about)
      expectShown(shown, drawn)
      expect(shown.length).toBeLessThan(2 * body.length + 1_100)
    }),
    { numRuns: runs },
  )
})

test('[esb-audit.redact-scope] in any beginning of such a body secrets are hidden', () => {
  fc.assert(
    fc.property(seeds, sizes, (seed, size) => {
      const d = dice(seed)
      const { tree, secrets } = draw(d, size)
      const body = Buffer.from(render(d, tree))
      const about = { totalBytes: body.length, contentType: d.one(contentTypes), contentEncoding: null }
      expectShown(redactBody(body.subarray(0, d.below(body.length)), about), { secrets, kept: [] })
    }),
    { numRuns: runs },
  )
})

test('[esb-audit.redact-scope] in any part of a form, query and header secrets are hidden and nothing else is', () => {
  fc.assert(
    fc.property(seeds, sizes, (seed, size) => {
      const d = dice(seed)
      const drawn = draw(d, size)
      const value = render(d, drawn.tree).replaceAll('\n', ' ')
      const query = toForm(d, drawn.tree)
      const part = `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${render(d, drawn.tree)}\r\n--x--\r\n`
      const about = {
        totalBytes: part.length,
        contentType: 'multipart/form-data; boundary=x',
        contentEncoding: null,
      }
      expectShown(redactBody(Buffer.from(part), about), drawn)
      expectShown(redactUrl(`https://host/path?${query}`), drawn)
      expectShown(redactHeaders(['X-Note', value])[0]?.value ?? '', drawn)
      expectShown(redactHeaders(['Location', `https://host/path?${query}#x`])[0]?.value ?? '', drawn)
      const named = drawn.secrets.flatMap((secret) => [spelled(d, d.one(sensitive.split(' '))), secret])
      expectShown(JSON.stringify(redactHeaders([...named, 'X-Note', 'keep'])), { ...drawn, kept: ['keep'] })
    }),
    { numRuns: runs },
  )
})

test('[esb-audit.redact-scope] wherever the work runs out, secrets are hidden', () => {
  fc.assert(
    fc.property(seeds, sizes, fc.double({ min: 0, max: 1, noNaN: true }), (seed, size, share) => {
      const d = dice(seed)
      const { tree, secrets } = draw(d, size)
      const text = render(d, tree)
      const part = `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n--x--\r\n`
      const body = Buffer.from(d.chance(30) ? part : text)
      const about = { totalBytes: body.length, contentType: d.one(contentTypes), contentEncoding: null }
      const query = toForm(d, tree)
      const raw = ['X-Note', text.replaceAll('\n', ' '), 'Location', `https://host/path?${query}`]
      for (const show of [
        (budget: Budget) => redactBody(body, about, budget),
        (budget: Budget) => redactUrl(`https://host/path?${query}`, budget),
        (budget: Budget) => JSON.stringify(redactHeaders(raw, budget)),
      ]) {
        const whole = { limit: Infinity, spent: 0 }
        show(whole)
        expectShown(show({ limit: share * whole.spent, spent: 0 }), { secrets, kept: [] })
      }
    }),
    { numRuns: runs },
  )
})
