// F04: PostgreSQL is restarted in order, which ends its sessions at once. What was accepted is kept, what was tried again
// is stored once, and emits are accepted soon after it is back.
import { defineRestart } from '../postgres-restart.ts'

export const f04 = defineRestart('F04', 'fast')
