// What the program knows of a kind of thing. Commands, documents and the plan of `apply` are made of it: a new kind is one
// file in resources/ and one line in resources/all.ts.
import type { TypedDocument } from '@manager/client'

export type Parent = 'project' | 'app' | 'environment'

/** A value that a person gives: an option of create and update, and a field of `apply`. */
export type Field = {
  /** As the API calls it. */
  name: string
  /** As the option is called, where that differs. */
  option?: string
  description: string
  /**
   * Text unless said otherwise. `file`: the text is in a file. `secret`: likewise, and it can be read by nobody afterwards.
   * `pairs`: a file in JSON or YAML with keys and texts. `time`: a time in RFC 3339, or a date.
   */
  kind?: 'boolean' | 'file' | 'secret' | 'pairs' | 'time'
  choices?: readonly string[]
  isRequired?: boolean
  /** Where it can be given; in both unless said otherwise. */
  only?: 'create' | 'update'
}

// The types of variables and answers differ from document to document; rows.ts knows what a resource says of them.
export type AnyDocument = TypedDocument<unknown, never>

/** An operation of the API. Its document has one root field. */
export type Operation = {
  document: AnyDocument
  /** The variable that names the parent. */
  parent?: string
  /** Whether fields are variables themselves, and not fields of `input`. */
  isFlat?: boolean
  /** The field of its answer that is the row. */
  row?: string
  /** The field of its answer that is shown once. */
  secret?: string
  /** What is always sent. */
  fixed?: Readonly<Record<string, unknown>>
}
type ListOperation = {
  document: AnyDocument
  /** One that reads more of each row, for a single one. */
  details?: AnyDocument
  parent?: string
  /** What of the parent is sent; its id unless said otherwise. */
  parentKey?: 'slug'
  row?: string
  hasFilters?: boolean
}

export type Resource = {
  /** The name of its command, in the plural. */
  name: string
  one: string
  aliases?: readonly string[]
  description: string
  parent: Parent | null
  /** What a row is known by besides its id; the first one is the argument of `create`. */
  keys: readonly [string, ...string[]]
  columns: readonly string[]
  fields: readonly Field[]
  list: ListOperation
  create?: Operation
  update?: Operation
  delete?: Operation
  /** Whether other things are in it, which are deleted with it. */
  isContainer?: true
  /** An example of create's options, for its help. */
  example?: string
}
