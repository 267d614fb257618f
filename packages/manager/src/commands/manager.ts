// Entry point of the operator CLI: `npm run manager -- <command>`.
import { createProcessSource } from '../config/config.ts'
import { run } from './run.ts'
import { createTerminal } from './terminal.ts'

const { env } = createProcessSource()
const { stdout, stderr } = process
const exit = (code: number): never => process.exit(code)
process.exitCode = await run(process.argv.slice(2), createTerminal({ env, stdout, stderr, exit }))
