// Turns the fields of a resource into command options.
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from './failures.ts'
import type { Row } from './output.ts'
import { readNamedFile } from './private-files.ts'
import type { Field, Resource } from './resource.ts'
import { asTime } from './times.ts'
import { rejectDuplicates } from './unique-names.ts'
import { parseYaml } from './yaml-text.ts'

type Kind = 'create' | 'update'
export type Pair = { Key: string; Value: string }

const kebab = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()

/** Returns the name of the option that sets a field. */
export const optionName = ({ name, option }: Field): string => kebab(option ?? name)

function optionOf(field: Field): Option {
  const { description, kind, choices } = field
  const flag = `--${optionName(field)}`
  if (kind === 'boolean') return new Option(`${flag} <true|false>`, description).argParser(asBoolean)
  if (kind === 'time') return new Option(`${flag} <time>`, description).argParser(asTime)
  if (kind === 'secret') return new Option(`${flag}-file <file>`, description)
  if (kind === 'file' || kind === 'pairs') return new Option(`${flag} <file>`, description)
  const option = new Option(`${flag} <${choices === undefined ? 'text' : 'word'}>`, description)
  return choices === undefined ? option : option.choices(choices)
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

/** Converts the given options to the input of the API, and reads the files that they name. */
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

/** Removes the final line break of a secret file, which is not part of the secret. */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '')

const readSecret = async (file: string): Promise<string> => withoutLineEnd(await readNamedFile(file))

async function readPairs(file: string): Promise<Pair[]> {
  const name = path.basename(file)
  const value = parseYaml(await readNamedFile(file), { name, maxAliasCount: 0 })
  return pairsOf(value, name)
}

/** Flattens nested maps to pairs with dotted keys. `at` is the position that error messages name. */
export function pairsOf(value: unknown, at: string): Pair[] {
  const pairs = flattened(value, { at, prefix: '' })
  rejectDuplicates(
    pairs.map(({ Key }) => Key),
    at,
  )
  return pairs
}

function flattened(value: unknown, { at, prefix }: { at: string; prefix: string }): Pair[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const expected = prefix === '' ? 'expected keys with string values' : `${prefix}: expected a string`
    // Numbers are rejected: 1.10 would become 1.1, and a long number would lose digits.
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
  throw new InvalidArgumentError('Use true or false.')
}
