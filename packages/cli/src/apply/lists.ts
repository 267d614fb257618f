// Reads the rows that a plan compares with the document, and caches complete lists.
import type { Connection } from '@manager/client'
import type { Row } from '../output.ts'
import type { RequestLimit } from '../request-limit.ts'
import type { Resource } from '../resource.ts'
import { type Filter, type ParentRow, listRows } from '../rows.ts'

export class RowLists {
  readonly #connection: Connection
  readonly #signal: AbortSignal
  readonly #limit: RequestLimit
  readonly #lists = new Map<string, Promise<Row[]>>()

  constructor(connection: Connection, signal: AbortSignal, limit: RequestLimit) {
    this.#connection = connection
    this.#signal = signal
    this.#limit = limit
  }

  /** Returns all rows of the parent. The first call reads them. */
  load(resource: Resource, parent: ParentRow | null): Promise<Row[]> {
    const name = getListName(resource, parent)
    const rows = this.#lists.get(name) ?? this.#read(resource, parent, [])
    this.#lists.set(name, rows)
    return rows
  }

  /** Returns the rows of the parent with exactly this key. Reads only matching rows unless the list is loaded. */
  async findByKey(resource: Resource, parent: ParentRow | null, key: string): Promise<Row[]> {
    const [field] = resource.keys
    const rows =
      this.#lists.get(getListName(resource, parent)) ?? this.#read(resource, parent, [{ field, value: key }])
    // The filter of the API also matches longer names that contain the key.
    return (await rows).filter((row) => row[field] === key)
  }

  async #read(resource: Resource, parent: ParentRow | null, filters: readonly Filter[]): Promise<Row[]> {
    const options = { filters, isDetailed: true, signal: this.#signal }
    const { rows } = await this.#limit(() => listRows(this.#connection, resource, parent, options))
    return rows
  }
}

const getListName = ({ name }: Resource, parent: ParentRow | null): string => `${name} ${parent?.id ?? ''}`
