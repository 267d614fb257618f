// Exports for operator commands in other packages: the terminal, the configuration and the database.
export { commandConfig, silentLog, withDatabase, withKeyedDatabase } from '../commands/context.ts'
export { createRoot, runProgram } from '../commands/root.ts'
export { table } from '../commands/table.ts'
export { type Terminal, createTerminal } from '../commands/terminal.ts'
export { type Config, processSource, settingsOf } from '../config/config.ts'
