// The tree that the parser makes of a template.
import { type NumberConstant } from './constants.ts'

/** Positions count UTF-16 units from the start of the template. */
interface Placed {
  readonly position: number
}

export interface FieldNode extends Placed {
  readonly kind: 'field'
  readonly names: readonly string[]
}
export interface VariableNode extends Placed {
  readonly kind: 'variable'
  /** The name with its `$`, and its number: equal names have equal numbers. */
  readonly name: string
  readonly number: number
  readonly names: readonly string[]
}
/** Fields of something that is no field and no variable: `(…).a.b`. */
export interface ChainNode extends Placed {
  readonly kind: 'chain'
  readonly base: Operand
  readonly names: readonly string[]
}
export interface FunctionNode extends Placed {
  readonly kind: 'function'
  readonly name: string
}
export interface NumberNode extends Placed, NumberConstant {
  readonly kind: 'number'
  readonly text: string
}
interface StringNode extends Placed {
  readonly kind: 'string'
  readonly text: string
}
interface BoolNode extends Placed {
  readonly kind: 'bool'
  readonly value: boolean
}
interface DotNode extends Placed {
  readonly kind: 'dot'
}
interface NilNode extends Placed {
  readonly kind: 'nil'
}
export interface PipeNode extends Placed {
  readonly kind: 'pipe'
  /** The text before it, when it is an action; empty otherwise. */
  readonly before: string
  /** The variables that take the value. */
  readonly variables: readonly { readonly name: string; readonly number: number }[]
  /** Whether they exist already and are assigned to. */
  readonly assigns: boolean
  /** The stages: what the first one returns goes to the next as its last argument, and so on. */
  readonly first: Command
  readonly rest: readonly Command[]
}
export type Literal = NumberNode | StringNode | BoolNode
export type Operand =
  FieldNode | VariableNode | ChainNode | FunctionNode | Literal | DotNode | NilNode | PipeNode
/** One stage of a pipeline: what is executed, and its arguments. */
export interface Command {
  readonly head: Operand
  readonly args: readonly Operand[]
}

interface TextNode extends Placed {
  readonly kind: 'text'
  readonly text: string
}
/** `if` and `with`, with all branches of `else if` and `else with`. */
export interface ConditionNode extends Placed {
  readonly kind: 'if' | 'with'
  readonly branches: readonly { readonly pipe: PipeNode; readonly list: ListNode }[]
  readonly otherwise: ListNode | null
}
export interface RangeNode extends Placed {
  readonly kind: 'range'
  readonly pipe: PipeNode
  readonly list: ListNode
  readonly otherwise: ListNode | null
}
export interface TemplateNode extends Placed {
  readonly kind: 'template'
  readonly name: string
  readonly pipe: PipeNode | null
}
interface JumpNode extends Placed {
  readonly kind: 'break' | 'continue'
}
/** Statements one after the other. */
export interface ListNode {
  readonly statements: readonly Statement[]
  /** The statements, operands and fields in it, which is what executing it costs; lists inside it are not counted. */
  readonly weight: number
}
/** A pipeline by itself is an action. */
export type Statement = TextNode | PipeNode | ConditionNode | RangeNode | TemplateNode | JumpNode

/** A template and how many blocks and parentheses are nested in it. */
export interface Definition {
  readonly list: ListNode
  readonly levels: number
}
