// Access reviews show which access each principal has, when it was granted, whether it is used, and who
// attested it. Other features change access (memberships/, users/, machine-users/, endpoints/,
// access-tokens/), and platform/credentials/activity.ts records activity.
import type { Config } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { deriveSecretKey } from '../../platform/secrets/keys.ts'
import { registerAccessReviewRoutes } from './access-reviews.routes.ts'
import { registerAttestForm } from './attest-form.routes.ts'
import { type AttestDeps, createAttestService } from './attest.service.ts'
import { type ReportDeps, createReportService } from './report.service.ts'

type Deps = ReportDeps & AttestDeps & { config: Config }

export const accessReviews = defineFeature({
  name: 'accessReviews',
  role: 'api',
  create: (deps: Deps) => {
    const reports = createReportService(deps)
    const attestations = createAttestService(deps)
    const formKey = deriveSecretKey(deps.config.masterKey, 'access-review-form')
    return {
      routes: (server) => {
        registerAccessReviewRoutes(server, { reports, attestations, formKey })
        registerAttestForm(server, { attestations, formKey })
      },
      schedules: [reports.schedule],
      api: {},
    }
  },
})
