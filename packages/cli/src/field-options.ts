// Converts the fields of a resource to command options.
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from './failures.ts'
import { parseList } from './list-options.ts'
import type { Row } from './output.ts'
import { readNamedFile } from './private-files.ts'
import type { Field, Resource } from './resource.ts'
import { parseTime } from './times.ts'
import { rejectDuplicates } from './unique-names.ts'
import { parseYaml } from './yaml-text.ts'

type CommandKind = 'create' | 'update'
export type Pair = { Key: string; Value: string }

const toKebabCase = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()

/** Returns the name of the option that sets a field. */
export const getOptionName = ({ name, option }: Field): string => toKebabCase(option ?? name)

function createOption(field: Field): Option {
  const { description, kind, choices } = field
  const flag = `--${getOptionName(field)}`
  if (kind === 'boolean') return new Option(`${flag} <true|false>`, description).argParser(parseBoolean)
  if (kind === 'number') return new Option(`${flag} <number>`, description).argParser(parseNumber)
  if (kind === 'list') return new Option(`${flag} <words>`, description).argParser(parseList)
  if (kind === 'time') return new Option(`${flag} <time>`, description).argParser(parseTime)
  if (kind === 'secret') return new Option(`${flag}-file <file>`, description)
  if (kind === 'file' || kind === 'pairs') return new Option(`${flag} <file>`, description)
  const option = new Option(`${flag} <${choices === undefined ? 'text' : 'word'}>`, description)
  return choices === undefined ? option : option.choices(choices)
}

const isAcceptedBy =
  (kind: CommandKind) =>
  ({ only }: Field): boolean =>
    only === undefined || only === kind

/** Adds an option for each field. */
export function addFieldOptions(command: Command, { fields }: Resource, kind: CommandKind): void {
  for (const field of fields.filter(isAcceptedBy(kind)))
    command.addOption(
      createOption(field).makeOptionMandatory(
        field.isRequired === true && (kind === 'create' || field.only === 'update'),
      ),
    )
}

/** Converts the passed options to API input. Reads the files that the options name. */
export async function readValues({ fields }: Resource, kind: CommandKind, options: Row): Promise<Row> {
  const values: Record<string, unknown> = {}
  for (const field of fields.filter(isAcceptedBy(kind))) {
    const optionValue = options[createOption(field).attributeName()]
    if (optionValue !== undefined) values[field.name] = await readValue(field, optionValue)
  }
  return values
}

function readValue({ kind }: Field, optionValue: unknown): unknown {
  switch (kind) {
    case undefined:
    case 'boolean':
    case 'time':
    case 'number':
    case 'list':
      return optionValue
    case 'file':
      return readNamedFile(optionValue as string)
    case 'secret':
      return readSecret(optionValue as string)
    case 'pairs':
      return readPairs(optionValue as string)
  }
}

/** Removes the line break at the end of a secret file, which is not part of the secret. */
export const removeLineEnd = (text: string): string => text.replace(/\r?\n$/, '')

const readSecret = async (file: string): Promise<string> => removeLineEnd(await readNamedFile(file))

async function readPairs(file: string): Promise<Pair[]> {
  const name = path.basename(file)
  const value = parseYaml(await readNamedFile(file), { name, maxAliasCount: 0 })
  return parsePairs(value, name)
}

/** Flattens nested maps to pairs with dotted keys. `at` is the position that error messages name. */
export function parsePairs(value: unknown, at: string): Pair[] {
  const pairs = flattenPairs(value, { at, prefix: '' })
  rejectDuplicates(
    pairs.map(({ Key }) => Key),
    at,
  )
  return pairs
}

function flattenPairs(value: unknown, { at, prefix }: { at: string; prefix: string }): Pair[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const problem = prefix === '' ? 'expected keys with string values' : `${prefix}: expected a string`
    // Numbers are rejected: 1.10 would become 1.1, and a long number would lose digits.
    throw new Failure(
      'usage',
      `${at}: ${problem}${typeof value === 'number' ? '; put the value in quotes' : ''}.`,
    )
  }
  return Object.entries(value).flatMap(([key, nested]: [string, unknown]) => {
    const Key = prefix === '' ? key : `${prefix}.${key}`
    return typeof nested === 'string' || typeof nested === 'boolean'
      ? [{ Key, Value: String(nested) }]
      : flattenPairs(nested, { at, prefix: Key })
  })
}

function parseBoolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new InvalidArgumentError('Use true or false.')
}

function parseNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Use a whole number.')
  return Number(text)
}
