// Defines the type of a resource. Commands, requests and the plan of `apply` are derived from its definition.
// A new resource needs one file in resources/ and one line in resources/all.ts.
import type { TypedDocument } from '@manager/client'
import type { Row } from './output.ts'

export type Parent = 'project' | 'app' | 'environment' | 'tenant'

/** A value that the user provides: an option of create and update, and a field of `apply`. */
export type Field = {
  /** The name of the field in the API. */
  name: string
  /** The name of the command option, if it differs from the field name. */
  option?: string
  description: string
  /**
   * The default is text. `file`: the text is in a file. `secret`: the text is in a file, and the API never
   * returns it. `pairs`: a JSON or YAML file with keys and string values. `time`: a time in RFC 3339, or a
   * date. `list`: texts, separated by commas in an option.
   */
  kind?: 'boolean' | 'file' | 'secret' | 'pairs' | 'time' | 'number' | 'list'
  choices?: readonly string[]
  isRequired?: boolean
  /** Whether an `apply` file can clear the field with null. */
  isNullable?: true
  /** The only command that accepts the field. By default, both `create` and `update` accept it. */
  only?: 'create' | 'update'
}

// Variables and results differ between documents. rows.ts derives them from the resource definition.
export type AnyDocument = TypedDocument<unknown, never>

/** An API operation. Its document has one root field. */
export type Operation = {
  document: AnyDocument
  /** The variable that contains the parent. */
  parent?: string
  /** Whether fields are passed as variables instead of as fields of `input`. */
  isFlat?: boolean
  /** The field of the result that contains the row. */
  row?: string
  /** The field of the result that contains a secret, which is returned only once. */
  secret?: string
  /** Fields that are sent unless the user sets other values. */
  defaultFields?: Readonly<Record<string, unknown>>
}
type ListOperation = {
  document: AnyDocument
  /** A document that selects additional fields, for reading a single row. */
  details?: AnyDocument
  parent?: string
  /** The field of the parent that is sent. The default is the id. */
  parentKey?: 'slug'
  row?: string
  hasFilters?: boolean
  /** Converts a row that the API returns. */
  convert?: (row: Row) => Row
}

export type Resource = {
  /** The plural name, which is also the name of the command. */
  name: string
  singular: string
  aliases?: readonly string[]
  description: string
  parent: Parent | null
  /** Fields that identify a row, in addition to its id. The first field is the argument of `create`. */
  keys: readonly [string, ...string[]]
  /** The names of the keys in the help, if they differ from the field names. */
  keyNames?: readonly string[]
  columns: readonly string[]
  /** Converts a row for a table, for example an object to its name. */
  formatRow?: (row: Row) => Row
  fields: readonly Field[]
  list: ListOperation
  create?: Operation
  update?: Operation
  delete?: Operation
  /** Whether the resource contains other resources, which are deleted with it. */
  isContainer?: true
  /** Example options of `create`, for the help. */
  example?: string
}
