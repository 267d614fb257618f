// The address to enter in an identity provider.
import type { ReactNode } from 'react'
import { IconButton } from '../../kit/button.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { getScimAddress } from './scim-token.ts'

export function ScimAddress(): ReactNode {
  const t = useText()
  const address = getScimAddress()
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(address)
    showToast(t('kit.copied'))
  }
  return (
    <p className="scim-address">
      <span className="muted">{t('provisioning.address')}</span>
      <code className="truncate" title={address}>
        {address}
      </code>
      <IconButton
        icon="copy"
        size="small"
        label={t('provisioning.copyAddress')}
        onPress={() => void copy()}
      />
    </p>
  )
}
