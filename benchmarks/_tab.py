import sys,time
from tests.reference.naive_bayes_tables import *
from tests.reference.data_sets import names, manifest
b=baseline(); kw=eval(sys.argv[1]) ; folds=int(sys.argv[2]) if len(sys.argv)>2 else None
win=0;tot=0
skip=set(sys.argv[3].split(',')) if len(sys.argv)>3 else set()
for n in names():
    if n not in b or n in skip: continue
    t=time.time()
    try: s=scores(n,folds,**kw)
    except Exception as e: print(n,'ERR',type(e).__name__,e); tot+=1; continue
    win+=s.log_loss<b[n]; tot+=1
    print(f"{n:16s} ours {s.log_loss:.4f} sk {b[n]:.4f} acc {s.accuracy:.4f} {'WIN' if s.log_loss<b[n] else '   ----'} {time.time()-t:.1f}s",flush=True)
print(win,tot)
