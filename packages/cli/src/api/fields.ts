// Reads the fields of `svc api`: key=value pairs whose keys can name nested fields, such as input[name].
import { Failure } from '../failures.ts'

/** `isTyped` converts true, false, null and numbers, and reads values that start with @ from files. */
export type FieldOption = { key: string; text: string; isTyped: boolean }
export type FieldMap = { [key: string]: unknown }
type ReadText = (file: string) => Promise<string>

// A longer number would lose digits.
const numberText = /^-?(0|[1-9]\d{0,14})(\.\d{1,14})?$/
const keyText = /^[^[\]]+(\[[^[\]]*\])*$/
const literals: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }

/** Splits key=value. Throws if the key is missing or malformed. */
export function parseField(text: string, isTyped: boolean): FieldOption {
  const separator = text.indexOf('=')
  const key = text.slice(0, Math.max(separator, 0))
  if (!keyText.test(key))
    throw new Failure('usage', `Invalid field ${key || text}. Use key=value, key[name]=value or key[]=value.`)
  return { key, text: text.slice(separator + 1), isTyped }
}

/** Returns the nested values of the fields, and the values that were read from files. */
export async function readFields(
  fields: readonly FieldOption[],
  readText: ReadText,
): Promise<{ values: FieldMap; fileValues: string[] }> {
  const values = createMap()
  const fileValues: string[] = []
  for (const field of fields) {
    const value = await readValue(field, readText)
    if (isFileReference(field)) fileValues.push(String(value))
    setValue(values, field.key.split(/\[|\]\[|\]/).slice(0, field.key.includes('[') ? -1 : undefined), value)
  }
  return { values, fileValues }
}

const isFileReference = ({ text, isTyped }: FieldOption): boolean => isTyped && text.startsWith('@')

async function readValue({ text, isTyped }: FieldOption, readText: ReadText): Promise<unknown> {
  if (!isTyped) return text
  if (text.startsWith('@')) return readText(text.slice(1))
  if (Object.hasOwn(literals, text)) return literals[text]
  return numberText.test(text) ? Number(text) : text
}

// A map without a prototype, because a key can be __proto__.
const createMap = (): FieldMap => Object.create(null) as FieldMap

/** Sets a nested value. An empty part of the path stands for a new element of a list. */
function setValue(root: FieldMap, path: readonly string[], value: unknown): void {
  let container: FieldMap | unknown[] = root
  for (const [index, part] of path.entries()) {
    const rest = path.slice(index + 1)
    if (rest.length === 0) return setMember(container, part, value, path)
    container = getContainer(container, part, rest)
  }
}

function setMember(
  container: FieldMap | unknown[],
  part: string,
  value: unknown,
  path: readonly string[],
): void {
  if (Array.isArray(container) !== (part === '')) throw createConflict(path)
  if (Array.isArray(container)) container.push(value)
  else if (Object.hasOwn(container, part)) throw createConflict(path)
  else container[part] = value
}

/** Returns the nested map or list that `part` names, and creates it if it does not exist. */
function getContainer(
  container: FieldMap | unknown[],
  part: string,
  rest: readonly string[],
): FieldMap | unknown[] {
  const created: FieldMap | unknown[] = rest[0] === '' ? [] : createMap()
  if (Array.isArray(container) !== (part === '')) throw createConflict([part, ...rest])
  if (Array.isArray(container)) {
    const last = container.at(-1)
    // filters[][field]=a filters[][value]=b fill one element; a repeated name starts the next element.
    if (isContainer(last) && !Array.isArray(last) && !Object.hasOwn(last, rest[0] ?? '')) return last
    container.push(created)
    return created
  }
  const existing = container[part]
  if (existing === undefined) container[part] = created
  else if (!isContainer(existing)) throw createConflict([part, ...rest])
  return isContainer(existing) ? existing : created
}

const isContainer = (value: unknown): value is FieldMap | unknown[] =>
  typeof value === 'object' && value !== null

const createConflict = ([first = '', ...rest]: readonly string[]): Failure =>
  new Failure(
    'usage',
    `The field ${first}${rest.map((part) => `[${part}]`).join('')} does not fit the other fields.`,
  )

/** Converts fields to a query string. Throws for nested fields, except lists of plain values. */
export function toQuery(values: FieldMap): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (isContainer(one))
        throw new Failure(
          'usage',
          `A query string cannot contain the nested field ${key}. Use --method POST.`,
        )
      query.append(key, String(one))
    }
  return query.toString()
}
