// Triggers: what is called, when, and what became of it. The grammar and arithmetic of cron expressions are here too.
// Which backends there are to call is not here (backends/).
import { type Config, settingsOf } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { createPartitionsSchedule } from '../../platform/db/partitions.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { Logger } from '../../platform/log/log.ts'
import { byId } from '../../policy/scopes.ts'
import { createCrons } from './crons.service.ts'
import { createTriggersResolvers } from './triggers.resolvers.ts'
import { type TriggersDeps, createTriggersService } from './triggers.service.ts'
import { triggersSettings } from './triggers.settings.ts'

type Deps = Omit<TriggersDeps, 'crons'> & { config: Config; log: Logger }

export const triggers = defineFeature({
  name: 'triggers',
  sdl: readSdl(import.meta.url, './triggers.graphql'),
  scopes: {
    TRIGGER: {
      noun: 'trigger',
      view: 'TRIGGER_READ',
      find: byId('triggers', { application: 'application_id' }),
    },
  },
  constraints: { triggers_application_fkey: ['not_found', 'application not found'] },
  create: (deps: Deps) => {
    const { triggerRunRetentionDays: retentionDays } = settingsOf(deps.config, triggersSettings)
    const crons = createCrons()
    return {
      resolvers: createTriggersResolvers(createTriggersService({ ...deps, crons })),
      schedules: [
        createPartitionsSchedule('trigger-run-retention', { table: 'trigger_runs', retentionDays }, deps),
      ],
      api: {},
    }
  },
})
