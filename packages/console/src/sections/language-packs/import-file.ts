// Reads a file with translations: CSV with a column per locale, or JSON with one or several locales.
import { parseCsv } from '../../app/csv.ts'
import { type Change, findSaved } from './edits.ts'
import { type KeyProblem, findKeyProblem, isValidText } from './keys.ts'
import type { Contents, Pack } from './pack-types.ts'

type Texts = ReadonlyMap<string, string>
type ImportFile = {
  /** Translations by locale. The name is empty if the file does not name its locale. */
  readonly locales: ReadonlyMap<string, Texts>
  /** The number of entries that were skipped because their value is not a text, or their key is too long to list. */
  readonly skipped: number
}

/** Why a file cannot be read. */
type FileProblem = 'noJson' | 'noObject' | 'noKeyColumn' | 'noLocaleColumn' | 'manyColumns'
export type ReadFile = { readonly file: ImportFile } | { readonly problem: FileProblem }

type JsonObject = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const maxDepth = 20
/** A nested key repeats the names around it, so a small file could otherwise fill the memory with keys. */
const maxListedKey = 2_000
/** A project has at most this many packs. */
const maxLocales = 1_000

/** Joins the names of nested objects by dots. The name "" is the value of the object itself, as frontends load it. */
function flatten(object: JsonObject, prefix: string, found: Map<string, string>, depth = 0): number {
  let skipped = 0
  for (const [name, value] of Object.entries(object)) {
    const key = prefix === '' ? name : name === '' ? prefix : `${prefix}.${name}`
    if (key.length > maxListedKey) skipped++
    else if (typeof value === 'string') found.set(key, value)
    else if (isObject(value) && depth < maxDepth) skipped += flatten(value, key, found, depth + 1)
    else skipped++
  }
  return skipped
}

const localePattern = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/

function readJson(text: string, packs: readonly Pack[]): ReadFile {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { problem: 'noJson' }
  }
  if (!isObject(json)) return { problem: 'noObject' }
  const entries = Object.entries(json)
  const names = new Set(packs.map(({ name }) => name.toLowerCase()))
  const isByLocale =
    entries.length > 0 &&
    entries.every(([name, value]) => isObject(value) && localePattern.test(name)) &&
    entries.some(([name]) => names.has(name.toLowerCase()))
  const { locale, messages } = json
  const parts: readonly (readonly [string, unknown])[] = isByLocale
    ? entries
    : typeof locale === 'string' && isObject(messages)
      ? [[locale, messages]]
      : [['', json]]
  let skipped = 0
  const locales = parts.map(([name, part]) => {
    const found = new Map<string, string>()
    if (isObject(part)) skipped += flatten(part, '', found)
    return [name, found] as const
  })
  return { file: { locales: new Map(locales), skipped } }
}

/** An empty cell changes nothing, because a spreadsheet cannot tell an empty text from a missing one. */
function readCsv(text: string): ReadFile {
  const [head = [], ...lines] = parseCsv(text)
  const [first = '', ...names] = head.map((name) => name.trim())
  if (first.toLowerCase() !== 'key') return { problem: 'noKeyColumn' }
  if (names.every((name) => name === '')) return { problem: 'noLocaleColumn' }
  if (names.length > maxLocales) return { problem: 'manyColumns' }
  const locales = names.map((name, index) => {
    const cells = lines.map((line) => [line[0] ?? '', line[index + 1] ?? ''] as const)
    return [name, new Map(cells.filter(([key, value]) => key !== '' && value !== ''))] as const
  })
  return { file: { locales: new Map(locales.filter(([name]) => name !== '')), skipped: 0 } }
}

/** Reads a file. A file that starts with `{` is JSON, and any other file is CSV. */
export const readImportFile = (text: string, packs: readonly Pack[]): ReadFile =>
  /^\uFEFF?\s*[{[]/.test(text) ? readJson(text.replace(/^\uFEFF/, ''), packs) : readCsv(text)

export type ImportTarget = { readonly pack: Pack; readonly texts: Texts }

/** Returns the packs that the file changes, and the locales that the project does not have. */
export function findTargets(
  { locales }: ImportFile,
  packs: readonly Pack[],
  chosenId: string | null,
): { targets: readonly ImportTarget[]; unknown: readonly string[] } {
  const targets: ImportTarget[] = []
  const unknown: string[] = []
  for (const [name, texts] of locales) {
    const pack = packs.find((one) =>
      name === '' ? one.id === chosenId : one.name.toLowerCase() === name.toLowerCase(),
    )
    if (pack !== undefined) targets.push({ pack, texts })
    else if (name !== '') unknown.push(name)
  }
  return { targets, unknown }
}

export type ImportChange = Change & { readonly locale: string; readonly saved: string | null }
export type ImportPreview = {
  readonly changes: readonly ImportChange[]
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
  /** Keys that the API would reject, with the reason. */
  readonly invalid: readonly { readonly key: string; readonly problem: KeyProblem }[]
}

/** Compares the file with the stored translations. */
export function previewImport(
  targets: readonly ImportTarget[],
  contents: Contents,
  { removesOthers }: { removesOthers: boolean },
): ImportPreview {
  const changes: ImportChange[] = []
  const invalid = new Map<string, KeyProblem>()
  let unchanged = 0
  for (const { pack, texts } of targets) {
    const change = (key: string, value: string | null): void => {
      const saved = findSaved(contents, pack.id, key)
      if (saved === value) unchanged++
      else changes.push({ packId: pack.id, locale: pack.name, key, value, saved })
    }
    for (const [key, value] of texts) {
      const problem = findKeyProblem(key) ?? (isValidText(value) ? null : 'languagePacks.key.characters')
      if (problem === null) change(key, value)
      else invalid.set(key, problem)
    }
    if (!removesOthers) continue
    for (const key of contents.get(pack.id)?.values.keys() ?? []) if (!texts.has(key)) change(key, null)
  }
  const removed = changes.filter(({ value }) => value === null).length
  const added = changes.filter(({ saved }) => saved === null).length
  return {
    changes,
    added,
    removed,
    changed: changes.length - added - removed,
    unchanged,
    invalid: [...invalid].map(([key, problem]) => ({ key, problem })),
  }
}
