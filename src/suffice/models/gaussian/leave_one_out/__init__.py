"""Every row judged by the model that never saw it, without refits."""
