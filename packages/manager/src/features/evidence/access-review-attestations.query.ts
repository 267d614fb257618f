import { isAbout, trailQuery } from './trail-query.pure.ts'

export const accessReviewAttestations = trailQuery({
  name: 'access-review-attestations',
  title: 'Reviews of access that were attested',
  description: 'Who attested which report of access, with the decision and the population it was about.',
  controls: ['ISO/IEC 27001:2022 A.5.18', 'SOC 2 CC6.2', 'SOC 2 CC6.3', 'NIST SP 800-53 AC-2'],
  columns: { attestation: 'l.metadata' },
  condition: isAbout(['accessReview'], 'attest'),
})
