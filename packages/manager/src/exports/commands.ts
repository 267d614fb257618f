// Exports for operator commands in other packages: the terminal, the configuration and the database.
export {
  loadCommandConfig as commandConfig,
  silentLog,
  withDatabase,
  withKeyedDatabase,
} from '../commands/context.ts'
export { createRoot, runProgram } from '../commands/root.ts'
export { formatTableLines as table } from '../commands/table.ts'
export { type Terminal, createTerminal } from '../commands/terminal.ts'
export {
  type Config,
  createProcessSource as processSource,
  selectSettings as settingsOf,
} from '../config/config.ts'
