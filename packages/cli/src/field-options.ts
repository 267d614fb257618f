// The fields of a resource as options of a command.
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from './failures.ts'
import type { Row } from './output.ts'
import { readNamedFile } from './private-files.ts'
import type { Field, Resource } from './resource.ts'
import { asTime } from './times.ts'
import { refuseTwice } from './unique-names.ts'
import { parseYaml } from './yaml-text.ts'

type Kind = 'create' | 'update'
export type Pair = { Key: string; Value: string }

const kebab = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()

/** The name of the option that gives a field. */
export const optionName = ({ name, option }: Field): string => kebab(option ?? name)

function optionOf(field: Field): Option {
  const { description, kind, choices } = field
  const flag = `--${optionName(field)}`
  if (kind === 'boolean') return new Option(`${flag} <true|false>`, description).argParser(asBoolean)
  if (kind === 'time') return new Option(`${flag} <time>`, description).argParser(asTime)
  if (kind === 'secret') return new Option(`${flag}-file <file>`, description)
  if (kind === 'file' || kind === 'pairs') return new Option(`${flag} <file>`, description)
  const made = new Option(`${flag} <${choices === undefined ? 'text' : 'word'}>`, description)
  return choices === undefined ? made : made.choices(choices)
}

const isOf =
  (kind: Kind) =>
  ({ only }: Field): boolean =>
    only === undefined || only === kind

/** Adds an option for each field. */
export function addFieldOptions(command: Command, { fields }: Resource, kind: Kind): void {
  for (const field of fields.filter(isOf(kind)))
    command.addOption(
      optionOf(field).makeOptionMandatory(
        field.isRequired === true && (kind === 'create' || field.only === 'update'),
      ),
    )
}

/** What was given, as the API takes it. */
export async function valuesOf({ fields }: Resource, kind: Kind, options: Row): Promise<Row> {
  const values: Record<string, unknown> = {}
  for (const field of fields.filter(isOf(kind))) {
    const given = options[optionOf(field).attributeName()]
    if (given !== undefined) values[field.name] = await valueOf(field, given)
  }
  return values
}

function valueOf({ kind }: Field, given: unknown): unknown {
  switch (kind) {
    case undefined:
    case 'boolean':
    case 'time':
      return given
    case 'file':
      return readNamedFile(given as string)
    case 'secret':
      return readSecret(given as string)
    case 'pairs':
      return readPairs(given as string)
  }
}

/** The secret of a text from a file; the end of its line is no part of it. */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '')

const readSecret = async (file: string): Promise<string> => withoutLineEnd(await readNamedFile(file))

async function readPairs(file: string): Promise<Pair[]> {
  const name = path.basename(file)
  const value = parseYaml(await readNamedFile(file), { name, maxAliasCount: 0 })
  return pairsOf(value, name)
}

/** Keys and texts; keys within keys are joined by dots. The text of a refusal names the place. */
export function pairsOf(value: unknown, at: string): Pair[] {
  const pairs = flattened(value, { at, prefix: '' })
  refuseTwice(
    pairs.map(({ Key }) => Key),
    at,
  )
  return pairs
}

function flattened(value: unknown, { at, prefix }: { at: string; prefix: string }): Pair[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const expected = prefix === '' ? 'keys with texts are expected' : `${prefix}: a text is expected`
    // 1.10 would become 1.1, and a long number would lose digits.
    throw new Failure('usage', `${at}: ${expected}${typeof value === 'number' ? '; put it in quotes' : ''}.`)
  }
  return Object.entries(value).flatMap(([key, one]: [string, unknown]) => {
    const Key = prefix === '' ? key : `${prefix}.${key}`
    return typeof one === 'string' || typeof one === 'boolean'
      ? [{ Key, Value: String(one) }]
      : flattened(one, { at, prefix: Key })
  })
}

function asBoolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new InvalidArgumentError('It is true or false.')
}
