// The interface to the host: the functions that it provides to templates, and the context of their calls.
import { type FunctionEntry } from './funcs.ts'
import { sprint } from './print.ts'
import { type Run } from './run.ts'
import { joinBytes } from './utf8.ts'
import { convertHostValue } from './value.ts'

/** The Go types that a parameter may have, with the JavaScript types of the arguments. */
interface GoTypes {
  /**
   * Any value: null, boolean, number, bigint, string, an array, a plain object, a Map, or a value such as the
   * result of `goTime`.
   */
  any: unknown
  string: string
  /** Integers are bigint: a constant such as 1, an index, a length. */
  int: bigint
  /** A number from the data, or a constant. */
  float64: number
  bool: boolean
}

/** Operations that a function can use while it runs. */
interface CallContext {
  /**
   * Charges work that the function is about to do to the budget of the execution. Stops the execution if the
   * budget is exhausted. A returned string is charged automatically, minus the bytes that were charged here.
   */
  charge(cost: { readonly steps?: number; readonly bytes?: number }): void
  /** Formats a value as Go's fmt.Sprint does. */
  print(value: unknown): string
  /** Reports a number whose written text has an exponent. `print` reports such numbers itself. */
  noteNumber(value: number, text: string): void
}

/** A function for templates. As in Go, a call with wrong arguments fails when it is executed. */
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
export function createHostFunction(name: string, host: TemplateFunction): FunctionEntry {
  return {
    name,
    parameters: host.parameters,
    variadic: host.variadic === true,
    call: (args, run) => {
      const builtBefore = run.built
      const result = host.call(args, createContext(run))
      if (typeof result !== 'string') return convertHostValue(result)
      run.chargeBuild(Math.max(result.length - (run.built - builtBefore), 0))
      // Bytes that are not valid UTF-8 are passed as lone surrogates in both directions.
      return joinBytes(result)
    },
  }
}

function createContext(run: Run): CallContext {
  return {
    charge: ({ steps = 0, bytes = 0 }) => {
      run.chargeSteps(Math.max(steps, 0))
      run.chargeBuild(Math.max(bytes, 0))
    },
    print: (value) => (typeof value === 'string' ? value : sprint([convertHostValue(value)], run)),
    noteNumber: (value, text) => run.watch?.onNumber(run, value, text),
  }
}
