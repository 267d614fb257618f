// F05: PostgreSQL is restarted as after a crash, and recovers from its log. The same has to hold as when it is restarted in
// order.
import { defineRestart } from '../postgres-restart.ts'

export const f05 = defineRestart('F05', 'immediate')
