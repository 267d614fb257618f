// Exports for operator commands in other packages: the terminal, the configuration and the database.
export { loadCommandConfig, silentLog, withDatabase, withKeyedDatabase } from '../commands/context.ts'
export { createRoot, runProgram } from '../commands/root.ts'
export { formatTableLines } from '../commands/table.ts'
export { type Terminal, createTerminal } from '../commands/terminal.ts'
export { type Config, createProcessSource, selectSettings } from '../config/config.ts'
