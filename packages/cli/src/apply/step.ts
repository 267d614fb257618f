// One line of a plan.
import type { Connection } from '@manager/client'
import { Failure } from '../failures.ts'
import type { Folders } from './named-files.ts'

/** What a plan shows; the values of files are shown by their digest. */
export type FieldChange = NamedFile & { before: unknown; after: unknown }
/** `file` is where the value is read from or written to, relative to the document. */
export type NamedFile = { field: string; file?: string }
export type Step = {
  action: 'create' | 'update' | 'unchanged'
  kind: string
  /** Which one, such as shop/acme. */
  path: string
  changes: FieldChange[]
  /** Files that were read, and of which nothing is sent. */
  notSent?: NamedFile[]
  /** Carries it out; what it makes is in `ids` afterwards. */
  run: () => Promise<void>
}

/** The ids of what is there, by kind and path; steps add what they make, and say so while the plan is made. */
export class Ids {
  readonly #ids = new Map<string, string>()
  readonly #expected = new Set<string>()

  set(kind: string, path: string, id: string): void {
    this.#ids.set(`${kind} ${path}`, id)
  }

  /** A step will make it. */
  expect(kind: string, path: string): void {
    this.#expected.add(`${kind} ${path}`)
  }

  isExpected(kind: string, path: string): boolean {
    return this.#expected.has(`${kind} ${path}`)
  }

  find(kind: string, path: string): string | null {
    return this.#ids.get(`${kind} ${path}`) ?? null
  }

  get(kind: string, path: string): string {
    const id = this.find(kind, path)
    if (id === null)
      throw new Failure('usage', `There is no ${kind} ${path}, neither in the file nor in the Manager.`)
    return id
  }
}

export type Planning = {
  connection: Connection
  signal: AbortSignal
  ids: Ids
  /** Where files may be that the document names. */
  folders: Folders
  /** The folder of the document, as the person wrote it. */
  documentFolder: string
  /** Where tokens go that the file names no place for. */
  tokensFolder: string | null
  /** Whether secrets that cannot be compared are sent again. */
  withSecrets: boolean
}

/** Whether two values are the same to the API. */
export const isSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other)

/** Pairs have no order, and what is not set is empty. */
function canonical(value: unknown): string {
  if (value === null || value === undefined) return '""'
  if (!Array.isArray(value)) return JSON.stringify(value)
  const isPairs = value.some((one) => typeof one === 'object' && one !== null && 'Key' in one)
  if (!isPairs) return JSON.stringify(value)
  const pairs = (value as { Key: string; Value: string }[]).map(({ Key, Value }) => [Key, Value])
  return JSON.stringify(pairs.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)))
}
