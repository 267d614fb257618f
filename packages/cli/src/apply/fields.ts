// The fields of a thing in the file of `apply`, as its resource describes them.
import path from 'node:path'
import { Failure } from '../failures.ts'
import { pairsOf, withoutLineEnd } from '../field-options.ts'
import type { Row } from '../output.ts'
import type { Field, Resource } from '../resource.ts'
import { type Folders, readWithin } from './named-files.ts'
import { asText } from './shapes.ts'

/** What can be compared with what is there, and what nobody can read again. `files` are those that fields are read from. */
export type Fields = { values: Row; secrets: Row; files: ReadonlyMap<string, string> }

const fieldsOf = ({ fields, keys }: Resource): Field[] => fields.filter(({ name }) => name !== keys[0])
const fileKey = ({ name, option }: Field): string => `${option ?? name}File`
const keysOf = (field: Field): string[] => {
  if (field.kind === 'secret') return [fileKey(field)]
  return field.kind === 'file' ? [field.name, fileKey(field)] : [field.name]
}

/** The names that the file may use. */
export const fieldNames = (resource: Resource): string[] => fieldsOf(resource).flatMap(keysOf)

/** Reads the fields of a thing, and the files that it names. */
export async function readFields(
  resource: Resource,
  map: Record<string, unknown>,
  { at, folder, folders }: { at: string; folder: string; folders: Folders },
): Promise<Fields> {
  const values: Record<string, unknown> = {}
  const secrets: Record<string, unknown> = {}
  const files = new Map<string, string>()
  for (const field of fieldsOf(resource)) {
    const [inFile, isFile] = [fileKey(field), field.kind === 'file']
    if ((isFile || field.kind === 'secret') && map[inFile] !== undefined) {
      const named = path.resolve(folder, asText(map[inFile], `${at}.${inFile}`))
      if (isFile && map[field.name] !== undefined)
        throw new Failure('usage', `${at}: write either ${field.name} or ${inFile}, not both.`)
      const text = await readWithin(folders, named)
      files.set(field.name, path.relative(folder, named))
      if (isFile) values[field.name] = text
      else secrets[field.name] = withoutLineEnd(text)
    } else if (map[field.name] !== undefined && field.kind !== 'secret')
      values[field.name] = checked(field, map[field.name], `${at}.${field.name}`)
    else if (field.isRequired === true && field.only === undefined)
      throw new Failure('usage', `${at}: ${field.name} is missing.`)
  }
  return { values, secrets, files }
}

function checked({ kind, choices }: Field, value: unknown, at: string): unknown {
  if (kind === 'pairs') return pairsOf(value, at)
  const type = kind === 'boolean' ? 'boolean' : 'string'
  if (typeof value !== type)
    throw new Failure('usage', `${at}: ${kind === 'boolean' ? 'true or false' : 'a text'} is expected.`)
  if (choices !== undefined && !choices.includes(value as string))
    throw new Failure('usage', `${at}: one of ${choices.join(', ')} is expected.`)
  return value
}
