// The interface to the host: functions that it provides to templates, and the context of their calls.
import { type FunctionEntry } from './funcs.ts'
import { sprint } from './print.ts'
import { type Run } from './run.ts'
import { joinBytes } from './utf8.ts'
import { adopt } from './value.ts'

/** The Go types that a parameter may have, and the JavaScript types of the arguments. */
interface GoTypes {
  /** Any value: null, boolean, number, bigint, string, arrays, plain objects, Maps, values such as those of goTime. */
  any: unknown
  string: string
  /** Integers are bigint: a constant such as 1, an index, a length. */
  int: bigint
  /** A number from the data, or a constant. */
  float64: number
  bool: boolean
}

/** The context that a function can use while it runs. */
interface CallContext {
  /**
   * Charges work that the function is about to do to the budget of the execution. Stops the execution if the budget is
   * exhausted. A returned string is charged automatically, minus the bytes that were charged here.
   */
  charge(cost: { readonly steps?: number; readonly bytes?: number }): void
  /** Formats a value like Go's fmt.Sprint. */
  print(value: unknown): string
  /** Reports a number that the function writes as this text, if the text has an exponent. `print` does so itself. */
  noteNumber(value: number, text: string): void
}

/** A function for templates. As in Go, a call with other arguments fails when it is executed. */
export interface TemplateFunction<Types extends readonly (keyof GoTypes)[] = readonly (keyof GoTypes)[]> {
  /** The Go types of the parameters. */
  readonly parameters: Types
  /** Whether the last parameter accepts any number of arguments, including none. */
  readonly variadic?: boolean
  /**
   * Returns data that a template accepts: number for float64 and bigint for int. A thrown error ends the execution.
   */
  call(args: { readonly [Index in keyof Types]: GoTypes[Types[Index]] }, context: CallContext): unknown
}

/** Converts a host function to the form that the engine calls. */
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
      // Bytes that are not UTF-8 are lone surrogates in both directions.
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
    noteNumber: (value, text) => run.watch?.onNumber(run, value, text),
  }
}
