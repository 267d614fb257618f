// What the program knows of a kind of thing. Commands, documents and the plan of `apply` are made of it: a new kind is one
// file in resources/ and one line in resources/all.ts.

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
   * `pairs`: a file in JSON or YAML with keys and texts.
   */
  kind?: 'boolean' | 'file' | 'secret' | 'pairs'
  choices?: readonly string[]
  isRequired?: boolean
  /** Where it can be given; in both unless said otherwise. */
  only?: 'create' | 'update'
}

/** An operation of the API, by its field. */
export type Operation = {
  field: string
  /** The argument that names the parent. */
  parent?: string
  /** The type of its argument `input`; without it, fields are arguments themselves, of the types in `types`. */
  input?: string
  types?: Readonly<Record<string, string>>
  /** The field of its answer that is the row. */
  row?: string
  /** The field of its answer that is shown once. */
  secret?: string
  /** What is always sent. */
  fixed?: Readonly<Record<string, unknown>>
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
  /** What is read of a row. */
  selection: string
  columns: readonly string[]
  fields: readonly Field[]
  list: { field: string; parent?: string; parentType?: 'String!'; row?: string; hasFilters?: boolean }
  create?: Operation
  update?: Operation
  delete?: Operation
  /** An example of create's options, for its help. */
  example?: string
}
