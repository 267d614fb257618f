// The host's side: functions it gives to templates, and what they are given when they are called.
import { type FunctionEntry } from './funcs.ts'
import { sprint } from './print.ts'
import { type Run } from './run.ts'
import { joinBytes } from './utf8.ts'
import { adopt } from './value.ts'

/** The Go types a parameter may have, and what an argument of each is here. */
interface GoTypes {
  /** Anything: null, boolean, number, bigint, string, arrays, plain objects, Maps, values such as those of goTime. */
  any: unknown
  string: string
  /** Integers are bigint: a constant such as 1, an index, a length. */
  int: bigint
  /** A number from the data, or a constant. */
  float64: number
  bool: boolean
}

/** What a function may use while it runs. */
interface CallContext {
  /**
   * Counts work that the function is about to do against the budget of the execution, and ends the execution when the
   * budget is used up. A string that the function returns is counted by itself; bytes counted here are credited to it.
   */
  charge(cost: { readonly steps?: number; readonly bytes?: number }): void
  /** The text that Go's fmt.Sprint has for a value. */
  print(value: unknown): string
  /** Tells the host of a number that the function writes as this text, if the text has an exponent; `print` does so itself. */
  noteNumber(value: number, text: string): void
}

/** A function for templates. A call with other arguments than these fails when it is executed, as in Go. */
export interface TemplateFunction<Types extends readonly (keyof GoTypes)[] = readonly (keyof GoTypes)[]> {
  /** The Go types of the parameters. */
  readonly parameters: Types
  /** Whether the last parameter takes any number of arguments, also none. */
  readonly variadic?: boolean
  /**
   * The result: data as a template takes it, number for float64 and bigint for int. What it throws ends the execution.
   */
  call(args: { readonly [Place in keyof Types]: GoTypes[Types[Place]] }, context: CallContext): unknown
}

/** The engine's form of a host function. */
export function hostFunction(name: string, host: TemplateFunction): FunctionEntry {
  return {
    name,
    parameters: host.parameters,
    variadic: host.variadic === true,
    call: (args, run) => {
      const before = run.built
      const result = host.call(args, contextOf(run))
      if (typeof result !== 'string') return adopt(result)
      run.build(Math.max(result.length - (run.built - before), 0))
      // Bytes that are not UTF-8 came in as lone surrogates and go out as such.
      return joinBytes(result)
    },
  }
}

function contextOf(run: Run): CallContext {
  return {
    charge: ({ steps = 0, bytes = 0 }) => {
      run.step(Math.max(steps, 0))
      run.build(Math.max(bytes, 0))
    },
    print: (value) => (typeof value === 'string' ? value : sprint([adopt(value)], run)),
    noteNumber: (value, text) => run.watch?.number(run, value, text),
  }
}
