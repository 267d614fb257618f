import { buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const accessReviewAttestations = createTrailQuery({
  name: 'access-review-attestations',
  title: 'Attested access reviews',
  description: 'Attestations of access reviews, each with the decision and the population that it covers.',
  controls: ['ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.2', 'SOC 2 CC6.3', 'NIST SP 800-53 AC-2'],
  columns: { attestation: 'l.metadata' },
  condition: buildEntityCondition(['accessReview'], 'attest'),
})
