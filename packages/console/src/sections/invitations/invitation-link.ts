// The token of an invitation link. It is in the fragment of the address, so that browsers do not send it to servers.
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

const tokenPattern = /^inv_[\w-]{1,100}$/

/** Takes the token out of the address, so that it remains in neither the address nor the history of this tab. */
export function useInvitationToken(): string | null {
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const [token, setToken] = useState<string | null>(null)
  const found = tokenPattern.test(hash) ? hash : null
  // The address can change while the page is open, if the person opens another link in the same tab.
  if (found !== null && found !== token) setToken(found)
  useEffect(() => {
    if (found !== null) void navigate({ to: '.', hash: '', replace: true })
  }, [found, navigate])
  return token
}
