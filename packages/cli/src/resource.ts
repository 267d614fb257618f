// The definition of a resource. Commands, requests and the plan of `apply` are derived from it: a new resource needs
// one file in resources/ and one line in resources/all.ts.
import type { TypedDocument } from '@manager/client'

export type Parent = 'project' | 'app' | 'environment'

/** A value that the user provides: an option of create and update, and a field of `apply`. */
export type Field = {
  /** The name in the API. */
  name: string
  /** The name of the option, if it differs. */
  option?: string
  description: string
  /**
   * Text by default. `file`: the text is in a file. `secret`: also in a file, and the API never returns it.
   * `pairs`: a file in JSON or YAML with keys and texts. `time`: a time in RFC 3339, or a date.
   */
  kind?: 'boolean' | 'file' | 'secret' | 'pairs' | 'time'
  choices?: readonly string[]
  isRequired?: boolean
  /** The only command that accepts it. By default, both commands accept it. */
  only?: 'create' | 'update'
}

// Variables and results differ between documents. rows.ts derives them from the definition of the resource.
export type AnyDocument = TypedDocument<unknown, never>

/** An operation of the API. Its document has one root field. */
export type Operation = {
  document: AnyDocument
  /** The variable that names the parent. */
  parent?: string
  /** Whether fields are passed as variables instead of as fields of `input`. */
  isFlat?: boolean
  /** The field of the result that contains the row. */
  row?: string
  /** The field of the result that contains a secret, which is returned only once. */
  secret?: string
  /** Fields that are sent unless the user sets them. */
  fixed?: Readonly<Record<string, unknown>>
}
type ListOperation = {
  document: AnyDocument
  /** A document that selects more fields, for reading a single row. */
  details?: AnyDocument
  parent?: string
  /** The key of the parent that is sent. The default is its id. */
  parentKey?: 'slug'
  row?: string
  hasFilters?: boolean
}

export type Resource = {
  /** The name of its command, in the plural. */
  name: string
  singular: string
  aliases?: readonly string[]
  description: string
  parent: Parent | null
  /** Fields that identify a row besides its id. The first one is the argument of `create`. */
  keys: readonly [string, ...string[]]
  columns: readonly string[]
  fields: readonly Field[]
  list: ListOperation
  create?: Operation
  update?: Operation
  delete?: Operation
  /** Whether it contains other resources, which are deleted with it. */
  isContainer?: true
  /** An example of create's options, for its help. */
  example?: string
}
