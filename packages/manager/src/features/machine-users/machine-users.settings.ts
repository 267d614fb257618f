// When clients that send wrong machine tokens are blocked.
import { throttleSettings, throttleTime } from '../../config/throttle-settings.ts'

export const machineUserSettings = {
  ...throttleSettings('machine', {
    failures: 10,
    windowMs: 60_000,
    blockMs: 60_000,
    doc: {
      failures: 'Failed machine tokens (`/api/machine/*`, `/esb/*`) that block a client.',
      block: 'How long the client is answered 429 the first time; each further block is twice as long.',
    },
  }),
  machineThrottleMaxBlockMs: throttleTime('machine.max_block_ms', 900_000, 'Longest block.'),
} as const
