// The syntax tree of a template.
import { type NumberConstant } from './constants.ts'

/** The position counts UTF-16 units from the start of the template. */
interface Positioned {
  readonly position: number
}

export interface FieldNode extends Positioned {
  readonly kind: 'field'
  readonly names: readonly string[]
}
export interface VariableNode extends Positioned {
  readonly kind: 'variable'
  /** The name includes its `$`. Equal names have equal numbers. */
  readonly name: string
  readonly number: number
  readonly names: readonly string[]
}
/** Fields of an operand that is neither a field nor a variable, such as `(…).a.b`. */
export interface ChainNode extends Positioned {
  readonly kind: 'chain'
  readonly base: Operand
  readonly names: readonly string[]
}
export interface FunctionNode extends Positioned {
  readonly kind: 'function'
  readonly name: string
}
export interface NumberNode extends Positioned, NumberConstant {
  readonly kind: 'number'
  readonly text: string
}
interface StringNode extends Positioned {
  readonly kind: 'string'
  readonly text: string
}
interface BoolNode extends Positioned {
  readonly kind: 'bool'
  readonly value: boolean
}
interface DotNode extends Positioned {
  readonly kind: 'dot'
}
interface NilNode extends Positioned {
  readonly kind: 'nil'
}
export interface PipeNode extends Positioned {
  readonly kind: 'pipe'
  /** The text before the action; empty if the pipeline is not an action. */
  readonly before: string
  /** The variables that receive the value. */
  readonly variables: readonly { readonly name: string; readonly number: number }[]
  /** Whether the pipeline assigns to existing variables instead of declaring new ones. */
  readonly assigns: boolean
  /** The stages. Each stage receives the result of the previous stage as its last argument. */
  readonly first: Command
  readonly rest: readonly Command[]
}
export type Literal = NumberNode | StringNode | BoolNode
export type Operand =
  FieldNode | VariableNode | ChainNode | FunctionNode | Literal | DotNode | NilNode | PipeNode
/** One stage of a pipeline: the operand that is evaluated, and its arguments. */
export interface Command {
  readonly head: Operand
  readonly args: readonly Operand[]
}

interface TextNode extends Positioned {
  readonly kind: 'text'
  readonly text: string
}
/** An `if` or `with` statement, including all its `else if` and `else with` branches. */
export interface ConditionNode extends Positioned {
  readonly kind: 'if' | 'with'
  readonly branches: readonly { readonly pipe: PipeNode; readonly list: ListNode }[]
  readonly elseList: ListNode | null
}
export interface RangeNode extends Positioned {
  readonly kind: 'range'
  readonly pipe: PipeNode
  readonly list: ListNode
  readonly elseList: ListNode | null
}
export interface TemplateNode extends Positioned {
  readonly kind: 'template'
  readonly name: string
  readonly pipe: PipeNode | null
}
interface JumpNode extends Positioned {
  readonly kind: 'break' | 'continue'
}
/** A sequence of statements. */
export interface ListNode {
  readonly statements: readonly Statement[]
  /** The cost of one execution: the number of statements, operands and fields, without nested lists. */
  readonly weight: number
}
/** A pipeline that is a statement is an action. */
export type Statement = TextNode | PipeNode | ConditionNode | RangeNode | TemplateNode | JumpNode

/** A template, with the nesting depth of its blocks and parentheses. */
export interface Definition {
  readonly list: ListNode
  readonly levels: number
}
