// Saves the tenants of the current filter as CSV.
import type { ReactNode } from 'react'
import { ExportButton } from '../../app/export-button.tsx'
import { useProject } from '../../app/project.tsx'
import { type Filter, type Order, tenantExportDocument } from '../../generated/documents.ts'

type TenantExportProps = { filters: readonly Filter[]; order: readonly Order[] }

export function TenantExport({ filters, order }: TenantExportProps): ReactNode {
  const { slug } = useProject()
  return (
    <ExportButton
      fileName={`${slug}-tenants.csv`}
      read={{
        document: tenantExportDocument,
        variables: { project: slug, filters, order },
        select: (result) => result.tenantsConnection,
      }}
      heads={['id', 'name', 'slug', 'mode', 'changed']}
      toCells={(row) => [row.id, row.name, row.slug, row.deploymentMode, row.updatedAt]}
    />
  )
}
