// These settings define how many wrong machine tokens block a client, and for how long.
import { defineThrottleSettings, defineThrottleTime } from '../../config/throttle-settings.ts'

export const machineUserSettings = {
  ...defineThrottleSettings('machine', {
    failures: 10,
    windowMs: 60_000,
    blockMs: 60_000,
    doc: {
      failures:
        'Number of failed machine tokens on `/api/machine/*` and `/esb/*` after which the client is blocked.',
      block:
        'Duration of the first block, during which the client receives 429. Each further block is twice as long.',
    },
  }),
  machineThrottleMaxBlockMs: defineThrottleTime(
    'machine.max_block_ms',
    900_000,
    'Maximum duration of a block.',
  ),
} as const
