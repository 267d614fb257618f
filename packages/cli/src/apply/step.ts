// The steps of a plan, and the state that planning functions share.
import type { Connection } from '@manager/client'
import { Failure } from '../failures.ts'
import type { RequestLimit } from '../request-limit.ts'
import type { RowLists } from './lists.ts'
import type { Folders } from './named-files.ts'

/** A change as the plan shows it. A value from a file appears as its digest. */
export type FieldChange = NamedFile & { before: unknown; after: unknown }
/** `file` is the file to read the value from or write it to, relative to the document. */
export type NamedFile = { field: string; file?: string }
/** An object in a plan, such as a tenant with the path shop/acme. */
export type PlannedObject = { kind: string; path: string }
export type Step = {
  action: 'create' | 'update' | 'delete' | 'unchanged'
  kind: string
  /** The full path, such as shop/acme. */
  path: string
  changes: FieldChange[]
  /** Files that were read but whose content is not sent. */
  notSent?: NamedFile[]
  /** For `delete`: the objects that the Manager deletes together with this one. */
  contents?: PlannedObject[]
  /** Executes the step and adds the ids of created rows to `ids`. */
  run: () => Promise<void>
}

/**
 * Ids of rows by kind and path. For a row that does not exist yet, planning calls `markPlanned`, and the step that
 * creates the row calls `set`.
 */
export class Ids {
  readonly #ids = new Map<string, string>()
  readonly #planned = new Set<string>()

  set(kind: string, path: string, id: string): void {
    this.#ids.set(`${kind} ${path}`, id)
  }

  /** Announces a row that a later step creates. */
  markPlanned(kind: string, path: string): void {
    this.#planned.add(`${kind} ${path}`)
  }

  isPlanned(kind: string, path: string): boolean {
    return this.#planned.has(`${kind} ${path}`)
  }

  find(kind: string, path: string): string | null {
    return this.#ids.get(`${kind} ${path}`) ?? null
  }

  get(kind: string, path: string): string {
    const id = this.find(kind, path)
    if (id === null)
      throw new Failure('usage', `The ${kind} ${path} is neither in the file nor in the Manager.`)
    return id
  }
}

export type Planning = {
  connection: Connection
  signal: AbortSignal
  ids: Ids
  lists: RowLists
  limit: RequestLimit
  /** Folders that may contain files named in the document. */
  folders: Folders
  /** The folder of the document. Symbolic links in its path are not resolved. */
  documentFolder: string
  /** The folder for tokens of machine users without a `tokenFile`. */
  tokensFolder: string | null
  /** Whether to send secrets again, even though they cannot be compared. */
  withSecrets: boolean
  /** Whether to delete objects that are missing in the lists of the document. */
  isPruning: boolean
  /** Whether the steps are only shown. The files of secrets can then be missing. */
  isPreview: boolean
}

/** Returns whether two values are the same to the API. */
export const isEqualValue = (one: unknown, other: unknown): boolean =>
  toCanonicalJson(one) === toCanonicalJson(other)

/** Returns canonical JSON, in which the order of pairs is irrelevant and an unset value equals an empty string. */
function toCanonicalJson(value: unknown): string {
  if (value === null || value === undefined) return '""'
  if (!Array.isArray(value)) return JSON.stringify(value)
  const isPairs = value.some((one) => typeof one === 'object' && one !== null && 'Key' in one)
  if (!isPairs) return JSON.stringify(value)
  const pairs = (value as { Key: string; Value: string }[]).map(({ Key, Value }) => [Key, Value])
  return JSON.stringify(pairs.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)))
}
