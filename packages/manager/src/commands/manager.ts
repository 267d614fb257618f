// The operator's command line: `npm run manager -- <command>`.
import { ConfigError } from '../config/config.ts'
import { printable } from './context.ts'
import { createProgram } from './program.ts'

try {
  await createProgram().parseAsync()
} catch (error) {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : `error: ${printable((error as Error).message)}`}\n`,
  )
  process.exitCode = 1
}
