"""What leaves sandboxes: network policies, a process of its own that serves the listeners of sandboxes with a network,
and secrets.

The node's side is `link`, which imports nothing that the process needs. A sandbox has no interface but loopback; its
listening sockets were made inside, by its launch, and are served from outside. What a program sends is read in that
process only, which holds no secret and no descriptor but these sockets, and has no right where root started it.

    program -> 127.0.0.1:3128 (proxy)          -> http: head, Host, target        -> policy -> resolve -> check -> dial
            -> any 127.x.y.z:443, :80, :PORT   -> the name that 127.x.y.z is for  -> likewise
            -> 127.0.0.1:53 (DNS)              -> an address in 127.0.0.0/8 for each allowed name, nothing else
"""
