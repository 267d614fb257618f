// Reads the fields of one resource in the `apply` file. The definition in resources/ lists these fields.
import path from 'node:path'
import { Failure } from '../failures.ts'
import { parsePairs, removeLineEnd } from '../field-options.ts'
import type { Row } from '../output.ts'
import type { Field, Resource } from '../resource.ts'
import { type Folders, findWithin, readWithin } from './named-files.ts'
import { asText } from './shapes.ts'

/** A secret whose file does not exist. This is an error only if the secret must be sent. */
export class MissingSecret {
  readonly file: string

  constructor(file: string) {
    this.file = file
  }
}

/**
 * The API returns `values` but never `secrets`. `files` maps a field name to the file that contains its
 * value.
 */
export type Fields = {
  values: Row
  secrets: Readonly<Record<string, string | MissingSecret>>
  files: ReadonlyMap<string, string>
}

const getFields = ({ fields, keys }: Resource): Field[] => fields.filter(({ name }) => name !== keys[0])

/** Returns the key that names the file of a field, such as `passwordFile`. */
const getFileKey = ({ name, option }: Field): string => `${option ?? name}File`
const getKeys = (field: Field): string[] => {
  if (field.kind === 'secret') return [getFileKey(field)]
  return field.kind === 'file' ? [field.name, getFileKey(field)] : [field.name]
}

/** Returns the keys that are allowed for this resource in the file. */
export const listFieldKeys = (resource: Resource): string[] => getFields(resource).flatMap(getKeys)

/** Reads the fields of a resource and the files that they name. */
export async function readFields(
  resource: Resource,
  map: Record<string, unknown>,
  { at, folder, folders }: { at: string; folder: string; folders: Folders },
): Promise<Fields> {
  const values: Record<string, unknown> = {}
  const secrets: Record<string, string | MissingSecret> = {}
  const files = new Map<string, string>()
  for (const field of getFields(resource)) {
    const [fileKey, isFile] = [getFileKey(field), field.kind === 'file']
    if ((isFile || field.kind === 'secret') && map[fileKey] !== undefined) {
      const file = path.resolve(folder, asText(map[fileKey], `${at}.${fileKey}`))
      if (isFile && map[field.name] !== undefined)
        throw new Failure('usage', `${at}: write either ${field.name} or ${fileKey}, not both.`)
      if (isFile) values[field.name] = await readWithin(folders, file)
      else secrets[field.name] = await readSecret(folders, file)
      files.set(field.name, path.relative(folder, file))
    } else if (map[field.name] !== undefined && field.kind !== 'secret')
      values[field.name] = checkValue(field, map[field.name], `${at}.${field.name}`)
    else if (field.isRequired === true && field.only === undefined)
      throw new Failure('usage', `${at}: ${field.name} is missing.`)
  }
  return { values, secrets, files }
}

async function readSecret(folders: Folders, file: string): Promise<string | MissingSecret> {
  const text = await findWithin(folders, file)
  return text === null ? new MissingSecret(file) : removeLineEnd(text)
}

function checkValue({ kind, choices, isNullable }: Field, value: unknown, at: string): unknown {
  if (value === null && isNullable === true) return null
  if (kind === 'pairs') return parsePairs(value, at)
  const type = kind === 'boolean' ? 'boolean' : 'string'
  if (typeof value !== type)
    throw new Failure('usage', `${at}: expected ${kind === 'boolean' ? 'true or false' : 'a string'}.`)
  if (choices !== undefined && !choices.includes(value as string))
    throw new Failure('usage', `${at}: expected one of ${choices.join(', ')}.`)
  return value
}
